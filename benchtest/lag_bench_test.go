package benchtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// null is an engine that answers at once, on the real clock.
type null struct{}

func (null) Generate(_ context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	at := r.Now()
	emit(engines.Chunk{At: at, Token: true, Content: true, Tokens: engines.Known(1)})
	return engines.Reply{Sent: at, FirstEvent: at, Closed: at, Model: "null", Status: 200, Finish: "length",
		PromptTokens: engines.Known(len(r.Tokens)), OutputTokens: engines.Known(1), CachedTokens: engines.Known(0)}, nil
}

func BenchmarkLag(b *testing.B) {
	for _, rate := range []float64{2000, 10_000} {
		for _, process := range []arrival.Process{arrival.Constant{Rate: rate}, arrival.Poisson{Rate: rate}, arrival.Gamma{Rate: rate, Burstiness: 0.25}} {
			b.Run(fmt.Sprint(process), func(b *testing.B) {
				for b.Loop() {
					runs, err := Run(context.Background(), null{}, small(Point{
						Workload: prompts{16, 1}, Arrivals: process, Window: 3 * time.Second,
					}), Options{})
					if err != nil {
						b.Fatal(err)
					}
					r := runs.Records[0]
					var lags []time.Duration
					for _, q := range window(r) {
						lags = append(lags, q.Sent-q.Scheduled)
					}
					slices.Sort(lags)
					at := func(p float64) float64 { return float64(lags[int(p*float64(len(lags)-1))].Microseconds()) }
					b.ReportMetric(at(0.5), "p50-lag-us")
					b.ReportMetric(at(0.99), "p99-lag-us")
					b.ReportMetric(at(1), "max-lag-us")
					for _, p := range r.Problems {
						b.Log(p.Text)
					}
				}
			})
		}
	}
}
