package benchtest

import (
	"context"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// The driver's own cost of a run of 2,000 requests of 256 tokens, computed:
// the engine is a formula and the prompts are short.
func BenchmarkARunComputed(b *testing.B) {
	p := Point{Workload: prompts{1, 256}, Arrivals: arrival.Poisson{Rate: 12.5}, Requests: 2000, Runs: 1}
	b.ReportAllocs()
	for b.Loop() {
		engine := &computed{script: &script{first: 31 * time.Millisecond, gap: 5 * time.Millisecond}}
		if _, err := Run(context.Background(), engine, p, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
