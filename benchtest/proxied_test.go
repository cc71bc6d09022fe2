package benchtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// proxied is an engine with a proxy before it, or one that the environment names.
type proxied struct {
	*script
	used, unused string
}

func (p proxied) Proxy() (used, unused string) { return p.used, p.unused }

// A record names the proxy that its requests went through, or that they went
// through none where one might think so.
func TestARecordNamesTheProxy(t *testing.T) {
	for _, tt := range []struct {
		what, used, unused, want string
		warns                    bool
	}{
		{"none", "", "", "", false},
		{"one in use", "http://gate:3128", "", "http://gate:3128", true},
		{"one that only the environment names", "", "HTTP_PROXY", "none: HTTP_PROXY is set and is not used", false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := one(t, proxied{quick(), tt.used, tt.unused}, usual())
				i := slices.IndexFunc(r.Identity, func(p metric.Pair) bool { return p.Key == fieldProxy })
				got := ""
				if i >= 0 {
					got = r.Identity[i].Value
				}
				assert.Equal(t, tt.want, got)
				const warning = "requests go through the proxy http://gate:3128: it is measured with the server, and may hold back what that streams; go round it unless it is meant"
				assert.Equal(t, tt.warns, slices.Contains(r.Warnings, warning), strings.Join(r.Warnings, "\n"))
			})
		})
	}
}
