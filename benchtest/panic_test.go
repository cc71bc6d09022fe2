package benchtest

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestAPanicLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		engine func() engines.Engine
		point  func(*Point)
		want   string
	}{
		{"in Generate", func() engines.Engine {
			e := quick()
			e.sends = func(n int) {
				if n == 400 {
					panic("at the disco")
				}
			}
			return e
		}, func(*Point) {}, "run 2 of 3: benchtest: the engine panicked in Generate"},
		{"in Flush", func() engines.Engine {
			return struct {
				*script
				*flusher
			}{quick(), &flusher{flush: func(n int) (engines.Flush, error) {
				if n == 1 {
					panic("at the disco")
				}
				return engines.Flush{Outcome: engines.Flushed}, nil
			}}}
		}, func(*Point) {}, "benchtest: panic: at the disco"},
		{"in the workload", func() engines.Engine { return quick() }, func(p *Point) {
			var n atomic.Int64 // called from several goroutines at once
			p.Workload = workload(func(i int, shape, content uint64) engines.Request {
				if n.Add(1) > 500 {
					panic("at the disco")
				}
				return prompts{16, 4}.Request(i, shape, content)
			})
		}, "benchtest: Point.Workload: Request("},
		{"in Scrape", func() engines.Engine {
			return struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				if n == 6 { // at an edge of the window
					panic("at the disco")
				}
				return engines.Counters{}, nil
			}}}
		}, func(*Point) {}, "run 2 of 3: benchtest: panic in the engine's counters: at the disco"},
		{"in Scrape after the load", func() engines.Engine {
			return struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				if n == 8 {
					panic("at the disco")
				}
				return engines.Counters{}, nil
			}}}
		}, func(*Point) {}, "run 2 of 3: benchtest: panic: at the disco"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := usual()
				p.Runs = 3
				c.point(&p)
				runs, err := Run(t.Context(), c.engine(), p, Options{})
				require.ErrorContains(t, err, c.want)
				assert.ErrorContains(t, err, "at the disco")
				assert.Empty(t, runs.Records[0].Problems)
				assert.Len(t, window(runs.Records[0]), 100)
			})
		})
	}
}

// workload is a function as a workload.
type workload func(i int, shape, content uint64) engines.Request

func (w workload) Request(i int, shape, content uint64) engines.Request { return w(i, shape, content) }
