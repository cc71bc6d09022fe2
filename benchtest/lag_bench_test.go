package benchtest

import (
	"context"
	"math"
	"strings"
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

// BenchmarkLag offers short requests on the real clock to an engine that
// answers at once, and prints how late they left, what was achieved of what was
// offered, how the gaps sent are dispersed against those planned, the CPU time
// of a request, and how busy the host was, since nothing is on time on a full
// one:
//
//	go test -run '^$' -bench Lag -benchtime 1x ./benchtest
func BenchmarkLag(b *testing.B) {
	for _, rate := range []float64{2000, 10_000} {
		for _, process := range []arrival.Process{arrival.Constant{Rate: rate}, arrival.Poisson{Rate: rate}, arrival.Gamma{Rate: rate, Burstiness: 0.25}} {
			b.Run(arrival.String(process), func(b *testing.B) {
				for b.Loop() {
					runs, err := Run(b.Context(), null{}, small(Point{
						Workload: prompts{16, 1}, Arrivals: process, Window: 3 * time.Second,
					}), Options{})
					if err != nil {
						b.Fatal(err)
					}
					r := runs.Records[0]
					for unit, x := range map[string]struct {
						reading string
						factor  float64
					}{
						"p50-lag-us": {"lag_p50_sec", 1e6}, "p99-lag-us": {"lag_p99_sec", 1e6}, "max-lag-us": {"lag_max_sec", 1e6},
						"achieved": {"achieved", 1}, "sent/planned-cv2": {"sent_gap_cv2", 1 / r.GapCV2},
						"cpu-us/req": {readProcess, 1e6 / r.Rate}, "wake-p99-us": {readWake, 1e6}, "host-busy-%": {readHost, 100},
					} {
						if v, known := r.Client.Readings[x.reading]; known && !math.IsInf(x.factor, 0) {
							b.ReportMetric(x.factor*v, unit)
						}
					}
					if _, constant := process.(arrival.Constant); !constant {
						if err := arrival.SelfTest(sentFrom(r), process); err != nil {
							b.Logf("as sent: %v", err)
						}
					}
					b.Logf("client %s: %s", r.Client.Verdict, strings.Join(r.Client.Reasons, "; "))
				}
			})
		}
	}
}
