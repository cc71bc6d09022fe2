package sim_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// A cold point on a server that has no flush and refuses salts: its requests
// carry none and are new content, which the cached tokens of replies prove, or
// which nobody can know and is said; over HTTP by engines/openai as in
// arithmetic.
func TestColdWithoutAFlush(t *testing.T) {
	for _, row := range []struct {
		name    string
		hidden  bool
		cache   benchtest.Cache
		proof   string
		problem string // its kind
		warning string
	}{
		{"proved by replies", false, benchtest.ProvedCold, "requests", "", ""},
		{"nothing tells", true, benchtest.Cold, "", "", "nothing shows whether the prefix cache was cold: the server tells no cached tokens (flush: unsupported, "},
		{"nothing tells, and a proof was asked for", true, benchtest.ProvedCold, "", "cold-unproved", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			cfg := sim.Config{Flavor: sim.TensorRTLLM, Noise: sim.Quiet, Faults: sim.Faults{HideCached: row.hidden}}
			p := benchtest.Point{
				Workload: fixtures.Lengths{Prompt: fixtures.Fixed(256), Output: fixtures.Fixed(8)},
				Arrivals: arrival.Poisson{Rate: 10}, Requests: 100, Runs: 1, Cache: row.cache,
			}
			measure := func(t *testing.T, e engines.Engine) *metric.Record {
				runs, err := benchtest.Run(t.Context(), e, p, benchtest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return runs.Records[0]
			}
			check := func(t *testing.T, r *metric.Record, details ...string) {
				for i := range r.Requests {
					if q := &r.Requests[i]; q.Failed() {
						t.Fatalf("request %s: %s: %s", q.ID, q.Failure, q.Message)
					}
				}
				if r.Flush != "unsupported" || r.CacheProof != row.proof {
					t.Errorf("flush %q, proof %q; want unsupported and %q", r.Flush, r.CacheProof, row.proof)
				}
				for _, detail := range details {
					if !strings.Contains(r.FlushDetail, detail) {
						t.Errorf("flush: %s; lacks %q", r.FlushDetail, detail)
					}
				}
				said := strings.Join(r.Warnings, "\n")
				if !strings.Contains(said, "flush unsupported: "+r.FlushDetail) || !strings.Contains(said, row.warning) {
					t.Errorf("warnings %q; want the flush's, and %q", r.Warnings, row.warning)
				}
				kinds := ""
				for _, problem := range r.Problems {
					kinds += problem.Kind
				}
				if kinds != row.problem {
					t.Errorf("problems %v, want %q", r.Problems, row.problem)
				}
			}
			model, err := sim.NewModel(cfg)
			if err != nil {
				t.Fatal(err)
			}
			check(t, measure(t, model))
			synctest.Test(t, func(t *testing.T) {
				check(t, measure(t, sim.New(t, cfg)), "POST /reset_prefix_cache?reset_external=true: status 404, Not Found; POST /flush_cache?timeout=5: status 404, Not Found",
					"requests with a cache_salt are refused (status 400: ", "kv_cache_config.enable_block_reuse")
			})
		})
	}
}
