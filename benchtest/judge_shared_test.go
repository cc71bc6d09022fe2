package benchtest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestTheLimitOfWhatOthersMayUse(t *testing.T) {
	const others = ": somebody else used it meanwhile (a user, another test, openloop doctor), or its /metrics covers more than this server (prefill and decode pods, replicas): measure it alone, or raise Limits.Shared"
	for _, row := range []struct {
		name        string
		key         string
		served, own float64
		limit       float64
		want        string // empty is none
	}{
		{"all its own", "prompt_tokens", 10000, 10000, 0, ""},
		{"less than it may be", "prompt_tokens", 5000, 10000, 0, ""},
		{"a hundredth of somebody else", "prompt_tokens", 200000, 198000, 0, ""},
		{"more", "prompt_tokens", 200000, 197980, 0, "the server served 200000 prompt tokens in this run, of which at most 197980 were this run's (1.01 % were not, limit 1 %)" + others},
		{"more, of what it sent", "output_tokens", 10000, 9899, 0, "the server served 10000 output tokens in this run, of which at most 9899 were this run's (1.01 % were not, limit 1 %)" + others},
		{"which is allowed", "output_tokens", 10000, 9899, 0.011, ""},
		{"less than one request has", "prompt_tokens", 2000, 1000, 0, ""},
		{"as a stricter limit does not refuse", "prompt_tokens", 2000, 1000, 0.001, ""},
		{"two pods on one page", "prompt_tokens", 20000, 10000, 0.5, ""},
		{"all somebody else's", "prompt_tokens", 20000, 0, 0.5, "the server served 20000 prompt tokens in this run, of which at most 0 were this run's (100 % were not, limit 50 %)" + others},
		{"a limit that nothing reaches", "prompt_tokens", 20000, 0, 1, ""},
		{"five requests", "requests", 10, 5, 0, ""},
		{"a twentieth of the requests", "requests", 1000, 950, 0, ""},
		{"more requests", "requests", 1000, 949, 0, "the server served 1000 requests in this run, of which at most 949 were this run's (5.1 % were not, limit 5 %)" + others},
		{"which are allowed", "requests", 1000, 949, 0.06, ""},
		{"nothing served", "requests", 0, 0, 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := good()
			r.Served, r.Own = map[string]float64{row.key: row.served}, map[string]float64{row.key: row.own}
			p := usual()
			p.Limits.Shared = row.limit
			problems, _ := Judge(r, p)
			if row.want == "" {
				assert.Empty(t, problems)
				return
			}
			assert.Equal(t, []metric.Problem{{Kind: kindShared, Text: row.want}}, problems)
		})
	}
}
