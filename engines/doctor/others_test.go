package doctor_test

import (
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
)

// only is a server that has OpenAI's routes and no others, with models of an
// owner.
func only(behind http.Handler, owner string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"meta-llama/Meta-Llama-3-8B-Instruct","object":"model","owned_by":"`+owner+`"}]}`)
		case strings.HasPrefix(r.URL.Path, "/v1/"):
			behind.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// Servers that have neither a flush nor a package here, and ignore a salt: what
// is said of their coldness, and what rules reuse out.
func TestServersOfOtherKinds(t *testing.T) {
	for _, row := range []struct {
		name, owner string
		faults      sim.Faults
		wrong       []string
		flush, salt string // parts of what is said
	}{
		{"LMDeploy, with its prefix cache on", "lmdeploy", sim.Faults{HideCached: true, IgnoreSalt: true},
			[]string{"unknown version", "unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "warn cached-tokens", "warn flush", "unknown cache-salt", "unknown metrics"},
			"LMDeploy has no flush: to rule reuse out start it without --enable-prefix-caching", "nothing tells whether it keeps prompts apart"},
		{"Ollama, whose prompts are text", "library", sim.Faults{IgnoreSalt: true, Protocol: sim.Protocol{NoTokenIDs: true}},
			[]string{"warn token-ids", "unknown version", "unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "warn flush", "warn cache-salt", "unknown metrics"},
			"Ollama has no flush, and reuses prompts always", "the cache still served"},
		{"one that names itself by its model, as Text Generation Inference does", "meta-llama/Meta-Llama-3-8B-Instruct", sim.Faults{HideCached: true, IgnoreSalt: true},
			[]string{"warn kind", "unknown version", "unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "warn cached-tokens", "warn flush", "unknown cache-salt", "unknown metrics"},
			"Text Generation Inference: PREFIX_CACHING=0", "nothing tells whether it keeps prompts apart"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				behind := serve(t, sim.Config{Faults: row.faults})
				report := examine(t, sim.Config{}, func(c *doctor.Config) {
					c.Dial = proxy(t, behind, func(p *httputil.ReverseProxy, s *http.Server) { s.Handler = only(p, row.owner) })
				})
				if got := wrong(report); report.Verdict() != doctor.Measurable || report.Kind != "openai" || !slices.Equal(got, row.wrong) {
					t.Errorf("%s, %s: %q; want measurable, openai: %q", report.Verdict(), report.Kind, got, row.wrong)
				}
				for name, want := range map[string]string{"flush": row.flush, "cache-salt": row.salt} {
					if f := report.Find(name); !strings.Contains(f.String(), want) {
						t.Errorf("%v; lacks %q", f, want)
					}
				}
			})
		})
	}
}
