package benchtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// A run alone accounts for all that the server counts, to the token, and what
// goes wrong in it is nobody else's.
func TestWhatTheServerCountsIsAccountedFor(t *testing.T) {
	exact := []string{"prompt_tokens", "output_tokens", "requests"}
	for _, row := range []struct {
		name   string
		faults sim.Faults
		config sim.Config
		point  func(p *benchtest.Point)
		exact  []string // the others are bounds
	}{
		{"a load", sim.Faults{}, sim.Config{}, func(p *benchtest.Point) {}, exact},
		{"with probes", sim.Faults{}, sim.Config{}, func(p *benchtest.Point) { p.ProbeRate = 3 }, exact},
		{"without a warmup", sim.Faults{}, sim.Config{}, func(p *benchtest.Point) { p.Warmup, p.Settle = -1, -1 }, exact},
		{"a closed loop", sim.Faults{}, sim.Config{}, func(p *benchtest.Point) { p.Arrivals, p.Closed.InFlight = nil, 8 }, exact},
		{"a prefix from the cache", sim.Faults{FlushLies: true}, sim.Config{}, func(p *benchtest.Point) {
			p.Workload, p.Cache = repeated{p.Workload}, benchtest.Warm
		}, exact},
		{"preemptions", sim.Faults{}, sim.Config{KVTokens: 3072, MaxModelLen: 2048}, func(p *benchtest.Point) {
			p.Workload = fixtures.Lengths{Prompt: fixtures.Fixed(64), Output: fixtures.Fixed(400)}
			p.Arrivals = arrival.Poisson{Rate: 6}
		}, exact[1:]},
		{"cached tokens not told", sim.Faults{HideCached: true}, sim.Config{}, func(p *benchtest.Point) {}, exact},
		{"outputs cut short", sim.Faults{OutputCut: 0.5}, sim.Config{}, func(p *benchtest.Point) {}, exact},
		{"outputs told too short", sim.Faults{Protocol: sim.Protocol{Miscount: -0.5}}, sim.Config{}, func(p *benchtest.Point) {}, exact},
		{"no usage", sim.Faults{NoUsage: true}, sim.Config{}, func(p *benchtest.Point) {}, exact[:1]},
		{"errors and broken streams", sim.Faults{ErrorShare: 0.1, CutShare: 0.1, ResetShare: 0.1, StreamErrorShare: 0.1}, sim.Config{}, func(p *benchtest.Point) {}, nil},
		{"an overload that the drain cuts", sim.Faults{}, sim.Config{MaxNumSeqs: 2}, func(p *benchtest.Point) { p.Drain = time.Second }, nil},
		{"which the server works on", sim.Faults{Protocol: sim.Protocol{KeepDropped: true}}, sim.Config{MaxNumSeqs: 2}, func(p *benchtest.Point) { p.Drain = time.Second }, nil},
		{"which hides its load", sim.Faults{Protocol: sim.Protocol{KeepDropped: true, NoLoad: true}}, sim.Config{MaxNumSeqs: 2}, func(p *benchtest.Point) { p.Drain = time.Second }, nil},
	} {
		for _, flavor := range []sim.Flavor{sim.VLLM, sim.SGLang} {
			t.Run(row.name+", "+string(flavor), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config := row.config
					config.DevMode, config.Flavor, config.Faults = true, flavor, row.faults
					p := alone()
					p.Runs = 2
					row.point(&p)
					runs, err := benchtest.Run(t.Context(), sim.New(t, config), p, benchtest.Options{Log: t.Logf})
					require.NoError(t, err)
					for _, r := range runs.Records {
						if row.name == "preemptions" && flavor == sim.VLLM {
							assert.NotContains(t, r.Served, "prompt_tokens", "some servers count again what they compute again")
							assert.Positive(t, r.Counters["preemptions"])
						}
						for _, problem := range r.Problems {
							assert.NotContains(t, []string{"shared", "restarted"}, problem.Kind, problem.Text)
						}
						for _, key := range row.exact {
							require.Contains(t, r.Served, key)
							assert.Equal(t, r.Own[key], r.Served[key], key)
						}
					}
				})
			})
		}
	}
}

// repeated makes prompts of which the first half is the same.
type repeated struct{ benchtest.Workload }

func (w repeated) Request(i int, shape, content uint64) engines.Request {
	r := w.Workload.Request(i, shape, content)
	for k := range r.Tokens[:len(r.Tokens)/2] {
		r.Tokens[k] = int32(5000 + k)
	}
	return r
}
