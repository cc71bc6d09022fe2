package benchtest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// Probes go out on a schedule of their own and are booked apart.
func TestProbesAreBesideTheLoad(t *testing.T) {
	run := func(t *testing.T, rate float64) (engine *script, r *metric.Record) {
		inBubble(t, func(t *testing.T) {
			engine = &script{first: 20 * time.Millisecond, gap: 5 * time.Millisecond}
			r = one(t, engine, small(Point{
				Workload: prompts{64, 4}, Arrivals: arrival.Poisson{Rate: 10}, Window: 10 * time.Second, Warmup: 60, Settle: 50, ProbeRate: rate,
			}))
		})
		return engine, r
	}
	engine, with := run(t, 2)
	_, without := run(t, 0)

	probes := 0
	for _, p := range with.Probes {
		assert.Equal(t, metric.Probe, p.Phase)
		assert.Equal(t, p.Scheduled, p.Sent)
		assert.Equal(t, p.Scheduled+20*time.Millisecond, p.FirstToken)
		assert.Equal(t, p.FirstToken, p.LastToken)
		assert.Equal(t, []int{16, 1}, []int{p.PromptTokens, p.OutputTokens})
		if p.Scheduled >= with.From && p.Scheduled < with.To {
			probes++
		}
	}
	assert.Equal(t, lead+250*time.Millisecond+1, with.Probes[0].Scheduled)
	for i := range with.Probes[1:] {
		assert.Equal(t, 500*time.Millisecond, with.Probes[i+1].Scheduled-with.Probes[i].Scheduled)
	}
	assert.Less(t, with.Probes[len(with.Probes)-1].Scheduled, with.To)
	assert.InDelta(t, 20, probes, 1)
	assert.Empty(t, with.Problems)
	noContentTwice(t, engine.seen)

	ttft, err := with.Value("p50-probe-ttft-sec")
	require.NoError(t, err)
	assert.Equal(t, 0.020, ttft)

	// Everything else is as it is without them.
	require.Nil(t, without.Probes)
	assert.NotEqual(t, without.PointHash, with.PointHash, "it is another point")
	assert.Contains(t, with.Point, metric.Pair{Key: "probe-rate", Value: "2"})
	same, err := without.Goodput(SLO{TTFT: 21 * time.Millisecond})
	require.NoError(t, err)
	goodput, err := with.Goodput(SLO{TTFT: 21 * time.Millisecond})
	require.NoError(t, err)
	assert.InDelta(t, same, goodput, 3, "another hash has other arrivals")
	assert.InDelta(t, 10, goodput, 3)
	for _, q := range with.Requests {
		assert.NotEqual(t, metric.Probe, q.Phase)
		assert.NotContains(t, q.ID, "mp-")
	}
}

// A client's limit, a cap and the slots of a closed loop are the load's.
func TestProbesAreOutsideOfEveryLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		point Point
	}{
		{"client limit", Point{Arrivals: arrival.Constant{Rate: 10}, ClientLimit: 1}},
		{"closed loop", Point{Closed: Closed{InFlight: 1}}},
		{"cap", Point{Arrivals: arrival.Constant{Rate: 2}, MaxInFlight: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := &script{first: 400 * time.Millisecond}
				c.point.Workload, c.point.Requests, c.point.ProbeRate = prompts{16, 1}, 8, 1
				r := one(t, engine, small(c.point))
				require.NotEmpty(t, r.Probes)
				for _, p := range r.Probes {
					assert.Equal(t, p.Scheduled, p.Sent)
					assert.Equal(t, p.Scheduled+engine.first, p.FirstToken)
					assert.Zero(t, p.Released)
				}
				assert.Equal(t, 2, engine.peak, "one of the load, and the probe beside it")
				assert.Empty(t, r.Problems)
			})
		})
	}
}

// A probe that fails is no failure of the load.
func TestProbesThatFailAreTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := one(t, &script{first: time.Millisecond, fails: func(_ int, r *engines.Request) error {
			if strings.Contains(r.ID, "mp-") {
				return &engines.Error{Class: engines.Refused, Message: "busy"}
			}
			return nil
		}}, small(Point{Workload: prompts{16, 1}, Arrivals: arrival.Constant{Rate: 10}, Requests: 50, ProbeRate: 1}))
		assert.Empty(t, r.Problems)
		assert.Contains(t, r.Warnings, "100 % of the probes failed; first: refused: busy")
		v, err := r.Value("error-rate")
		require.NoError(t, err)
		assert.Zero(t, v)
		v, err = r.Value("probe-error-rate")
		require.NoError(t, err)
		assert.Equal(t, 1.0, v)
		_, err = r.Value("p50-probe-ttft-sec")
		assert.EqualError(t, err, "p50-probe-ttft-sec is absent: none of 5 requests succeeded")
	})
}

// A probe that the engine holds for ever is cut as any other request, and does
// not keep the run from ending.
func TestAProbeThatHangsIsCut(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: time.Millisecond, sends: nil}
		engine.fails = func(_ int, r *engines.Request) error {
			if strings.Contains(r.ID, "mp-") {
				time.Sleep(3 * time.Second)
				return &engines.Error{Class: engines.Canceled}
			}
			return nil
		}
		r := one(t, engine, small(Point{
			Workload: prompts{16, 1}, Arrivals: arrival.Constant{Rate: 10}, Requests: 10, ProbeRate: 1, Drain: time.Second,
		}))
		require.Len(t, r.Probes, 1)
		assert.Equal(t, metric.Unfinished, r.Probes[0].Failure)
		assert.Empty(t, r.Problems)
	})
}

// A text is a prompt too, and each is another.
func TestProbesOfText(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: time.Millisecond}
		one(t, engine, small(Point{
			Workload: workload(func(i int, _, content uint64) engines.Request {
				return engines.Request{Text: "Tell me a story.", MaxTokens: 3, MinTokens: 3}
			}),
			Arrivals: arrival.Constant{Rate: 10}, Requests: 30, ProbeRate: 1,
		}))
		texts := map[string]int{}
		for _, r := range engine.seen {
			if strings.Contains(r.ID, "mp-") {
				texts[r.Text]++
				assert.Equal(t, []int{1, 1}, []int{r.MaxTokens, r.MinTokens})
			}
		}
		assert.Len(t, texts, 3)
	})
}

func TestProbeRateIsValidated(t *testing.T) {
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1), 101} {
		p := usual()
		p.ProbeRate = rate
		assert.ErrorContains(t, p.Validate(), "benchtest: Point.ProbeRate must be from 0 to 100, got ")
	}
}
