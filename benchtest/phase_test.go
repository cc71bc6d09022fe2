package benchtest

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// trace is n arrivals a gap apart; then it ends.
type trace struct {
	n   int
	gap time.Duration
}

func (p trace) Times(uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i := range p.n {
			if !yield(time.Duration(i) * p.gap) {
				return
			}
		}
	}
}

func TestPhases(t *testing.T) {
	for _, c := range []struct {
		name  string
		deal  phases
		at    []time.Duration
		want  string // a letter an arrival
		count int
	}{
		{"settle, window, cooldown", phases{settle: 2, requests: 3}, seconds(1, 2, 3, 4, 5, 6, 7), "sswwwcc", 3},
		{"no settle", phases{requests: 2}, seconds(1, 2, 3), "wwc", 2},
		{"a window in time closes at the next arrival", phases{settle: 1, window: 3 * time.Second}, seconds(1, 2, 3, 4.9, 5, 6), "swwwcc", 3},
		{"a window in time over a gap", phases{window: time.Second}, seconds(1, 9, 10), "wcc", 1},
		{"one instant at the end of settle", phases{settle: 2, requests: 2}, seconds(1, 2, 2, 2, 3, 4, 5), "sssswwc", 2},
		{"one instant at the end of the window", phases{requests: 2}, seconds(1, 2, 2, 2, 3), "wwwwc", 4},
		{"one instant at the start", phases{requests: 2}, seconds(1, 1, 1, 2), "wwwc", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, at := range c.at {
				got += string(c.deal.next(at))[:1]
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.count, c.deal.counted)
		})
	}
}

func seconds(s ...float64) (out []time.Duration) {
	for _, s := range s {
		out = append(out, time.Duration(s*1e9))
	}
	return out
}

// The phase says what the interval says: From <= Scheduled < To.
func FuzzPhases(f *testing.F) {
	f.Add(uint64(1), 3, 5, int64(0), []byte{1, 0, 0, 2, 3, 0, 1, 1})
	f.Add(uint64(2), 0, 0, int64(9), []byte{0, 0, 4, 0, 9, 9})
	f.Fuzz(func(t *testing.T, _ uint64, settle, requests int, window int64, gaps []byte) {
		if settle < 0 || requests < 0 || window < 0 || (requests == 0) == (window == 0) {
			t.Skip()
		}
		deal := phases{settle: settle, requests: requests, window: time.Duration(window)}
		type dealt struct {
			at    time.Duration
			phase metric.Phase
		}
		var all []dealt
		at := lead
		for _, g := range gaps {
			at += time.Duration(g)
			all = append(all, dealt{at, deal.next(at)})
		}
		for i, d := range all {
			inside := deal.from > 0 && d.at >= deal.from && (deal.to == 0 || d.at < deal.to)
			if inside != (d.phase == metric.Window) {
				t.Fatalf("arrival %d at %v is dealt to %s, the window is %v to %v", i, d.at, d.phase, deal.from, deal.to)
			}
		}
	})
}

func TestThePlanOfAPoint(t *testing.T) {
	p := Point{Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 10}, Requests: 300, Starts: 2}
	plan, err := p.Plan()
	require.NoError(t, err)
	seeds := []uint64{}
	for i := range 3 {
		seeds = append(seeds, pairSeed(p.Hash(), 0, i))
	}
	assert.Equal(t, strings.Join([]string{
		"constant-10: constant 10/s, prompts(16/4), 300 requests a run",
		"point " + p.Hash() + ", cache cold, 3 runs on 2 engine starts",
		fmt.Sprintf("run 0  start 0  seed %016x  warmup 50 in 4.9s, settle 50 in 5s, window 300 in 30s, drain at most 1m0s", seeds[0]),
		fmt.Sprintf("run 1  start 0  seed %016x  warmup 50 in 4.9s, settle 50 in 5s, window 300 in 30s, drain at most 1m0s", seeds[1]),
		fmt.Sprintf("run 2  start 1  seed %016x  warmup 50 in 4.9s, settle 50 in 5s, window 300 in 30s, drain at most 1m0s", seeds[2]),
		"at most 5m0s of engine time, and what starting it takes",
		"",
	}, "\n"), plan.String())
	d, ok := plan.Duration()
	assert.True(t, ok)
	assert.Equal(t, 3*(4900*time.Millisecond+35*time.Second+time.Minute), d)
}

func TestThePlanOfAClosedLoop(t *testing.T) {
	p := Point{Workload: prompts{16, 4}, Closed: Closed{InFlight: 4}, Window: time.Minute, Runs: 1}
	plan, err := p.Plan()
	require.NoError(t, err)
	assert.Equal(t, strings.Join([]string{
		"closed-4: closed loop, 4 in flight, prompts(16/4), windows of 1m0s",
		"point " + p.Hash() + ", cache cold, 1 run on 1 engine start",
		fmt.Sprintf("run 0  start 0  seed %016x  warmup 50, settle 50, window 1m0s, drain at most 1m0s", pairSeed(p.Hash(), 0, 0)),
		"engine time depends on the engine: it is a closed loop",
		"",
	}, "\n"), plan.String())
	_, ok := plan.Duration()
	assert.False(t, ok)
}

func TestPlansThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name    string
		process arrival.Process
		want    string
	}{
		{"a trace that ends in the window", trace{120, time.Second},
			"benchtest: run 0: benchtest.trace{n:120 gap:1000000000} has only 120 arrivals, and the window (100 requests after 50 to settle) needs one more to close at: lower Requests, Window or Settle"},
		{"a trace that ends with the window", trace{150, time.Second},
			"benchtest: run 0: benchtest.trace{n:150 gap:1000000000} has only 150 arrivals, and the window (100 requests after 50 to settle) needs one more to close at: lower Requests, Window or Settle"},
		{"a trace that ends in the warmup", trace{20, time.Second},
			"benchtest: the warmup of run 0: benchtest.trace{n:20 gap:1000000000} has only 20 arrivals of 50: lower Warmup"},
		{"time that runs backwards", trace{200, -time.Second},
			"benchtest: the warmup of run 0: arrival 1 of benchtest.trace{n:200 gap:-1000000000} is due at -1s, before the one before it: a schedule never decreases"},
		{"a process that is not what it says", liar{arrival.Poisson{Rate: 8}},
			"benchtest: run 0: arrival: poisson 8/s asks for 33.7 arrivals by the schedule's last one, which is number 151: chance explains a difference of 110.5, not 117.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Point{Workload: prompts{16, 4}, Arrivals: c.process, Requests: 100}.Plan()
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := Point{Workload: prompts{16, 4}, Arrivals: trace{151, time.Second}, Requests: 100}.Plan()
	assert.NoError(t, err, "one arrival to close at is enough")
}

// liar has twice the arrivals that it says.
type liar struct{ arrival.Poisson }

func (p liar) MeanRate(over time.Duration) float64 { return p.Poisson.MeanRate(over) / 4 }
