package sim_test

import (
	"math"
	"os"
	"sync"
	"testing"

	"github.com/openloop-go/openloop/engines/sim"
)

func TestX(t *testing.T) {
	n := 24
	if os.Getenv("OPENLOOP_CALIBRATE") == "1" {
		n = 200
	}
	for _, l := range []load{{inFlight: 64}, {rate: 4}, {rate: 12.5}, {rate: 13.5}} {
		for _, slow := range []float64{1, 1.1, 1.2} {
			fs := make([]figures, n)
			var wg sync.WaitGroup
			for w := range 2 {
				wg.Go(func() {
					for i := w; i < n; i += 2 {
						c := chat
						c.rate, c.inFlight, c.seed = l.rate, l.inFlight, uint64(i)
						fs[i] = c.figures(sim.Config{DecodeSlowdown: slow, Seed: uint64(i) + 1})
					}
				})
			}
			wg.Wait()
			get := func(f func(figures) float64) (float64, float64, float64) {
				var x []float64
				for _, v := range fs {
					x = append(x, f(v))
				}
				return quantile(x, .5), quantile(x, .05), quantile(x, .95)
			}
			p := func(name string, f func(figures) float64) {
				a, b, c := get(f)
				t.Logf("%v %v %s %.4g (%.3g-%.3g)", l, slow, name, a, b, c)
			}
			p("tpot", func(f figures) float64 { return f.tpot * 1e3 })
			p("ttft", func(f figures) float64 { return f.ttft * 1e3 })
			p("p99", func(f figures) float64 { return f.p99ttft })
			p("thr", func(f figures) float64 { return f.throughput })
			p("att", func(f figures) float64 { return f.attainment })
			p("good", func(f figures) float64 { return f.goodput })
		}
	}
	_ = math.Pi
}

func BenchmarkRun(b *testing.B) {
	c := chat.at(12.5, 1)
	for b.Loop() {
		c.figures(sim.Config{})
	}
}
