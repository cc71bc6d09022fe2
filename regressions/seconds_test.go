package regressions_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// protocolSeconds is what five runs of 2,000 requests at 12 a second take in
// two arms, windows alone: what a careful hand would spend on the question.
const protocolSeconds = 2 * 5 * 2000 / 12.0

// race is one way of asking whether decode is 10 % slower.
type race struct {
	load
	// carried is true where the noise of a run goes on in the next one.
	carried bool
	looks   []int
	// times is how many times faster than the protocol it has to be at 80 %
	// power; zero is told, not judged.
	times float64
	short bool // part of the short form
}

// one is a serial load, with a request to warm up.
func one(requests int) load {
	return load{name: fmt.Sprintf("serial, %d requests", requests),
		point: benchtest.Point{Closed: benchtest.Closed{InFlight: 1}, Requests: requests, Warmup: 1, Settle: -1}}
}

// open is an open loop that warms up and settles for as many requests as
// three durations of a request hold, or the relaxation where that is longer.
func open(rate float64, requests, fill int) load {
	return load{name: fmt.Sprintf("%g req/s, %d requests", rate, requests),
		point: benchtest.Point{Arrivals: arrival.Poisson{Rate: rate}, Requests: requests, Warmup: fill, Settle: fill, Capacity: 14.1}}
}

// even is an open loop without luck: its arrivals keep equal distances.
func even(rate float64, requests, fill int) load {
	l := open(rate, requests, fill)
	l.name = fmt.Sprintf("%g req/s, even, %d requests", rate, requests)
	l.point.Arrivals = arrival.Constant{Rate: rate}
	return l
}

var (
	fromThree = []int{3, 5, 8, 12}
	fromFive  = []int{5, 8, 12}
)

var races = []race{
	// Serial: nothing but the engine's noise. Where that goes on from run to
	// run, runs of a few seconds false-alarm.
	{load: one(3), looks: fromThree},
	{load: one(3), looks: fromThree, carried: true},
	{load: one(5), looks: fromThree, carried: true},
	{load: one(10), looks: fromThree, carried: true},
	{load: one(15), looks: fromThree, times: 10},
	{load: one(15), looks: fromThree, carried: true, times: 10, short: true},
	{load: one(30), looks: fromThree, carried: true},
	// Quiet: the shorter the window, the more the luck of the arrivals, which
	// pairs take away from five runs on.
	{load: open(1, 30, 12), looks: fromThree, carried: true},
	{load: open(2, 30, 20), looks: fromThree, carried: true},
	{load: open(2, 60, 20), looks: fromThree, times: 7},
	{load: open(2, 60, 20), looks: fromThree, carried: true, times: 7, short: true},
	{load: open(4, 60, 40), looks: fromThree, carried: true},
	{load: open(4, 60, 40), looks: fromFive, carried: true},
	{load: open(4, 150, 50), looks: fromThree, carried: true, times: 7, short: true}, // Capacity.Quiet
	{load: open(4, 300, 50), looks: fromThree, carried: true},
	{load: even(4, 60, 40), looks: fromThree, carried: true},
	// Towards the knee the luck outgrows the effect.
	{load: open(8, 300, 160), looks: fromThree, carried: true},
	{load: open(12, 1000, 300), looks: fromThree, carried: true},
}

// TestSecondsToCatch prints how many seconds of engine time the candidate
// takes, warmup, settling and all, until the gate has called a decode that is
// 10 % slower regressed with some probability: at several loads and lengths of
// a run. Runs differ by 2 % and starts by 0.5 %, noise is correlated over a
// minute, and twelve runs of two starts are stored.
func TestSecondsToCatch(t *testing.T) {
	long := os.Getenv("OPENLOOP_CALIBRATE") == "1"
	bases, per := 8, 3
	switch {
	case long:
		bases, per = 250, 4
	case ci.Race:
		bases, per = 2, 1
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "%-26s %18s %8s  caught by look, %%   seconds for a power of       protocol ÷   false\n", "", "", "seconds")
	fmt.Fprintf(b, "%-26s %18s %8s    3   5   8  12    50 %%   80 %%   95 %%   99 %%   at 80 %%   alarms\n", "load", "looks", "a run")
	for _, r := range races {
		if !long && !r.short {
			continue
		}
		n := bases
		if long && r.times == 0 {
			n /= 5
		}
		slow, same := r.run(t.Context(), n, per)
		alarms := counted(same, regressions.Regressed)
		at80 := timeToPower(slow, 0.80)
		fmt.Fprintf(b, "%-26s %-18s %8.0f  %s", r.name, r, perRun(slow), byLook(slow))
		for _, power := range []float64{0.5, 0.8, 0.95, 0.99} {
			fmt.Fprintf(b, " %6.0f", timeToPower(slow, power))
		}
		fmt.Fprintf(b, " %9.1f %5d of %d, %d undecided, %d invalid\n", protocolSeconds/at80, alarms, len(same),
			counted(same, regressions.Inconclusive), counted(append(same, slow...), regressions.Invalid))
		if r.times > 0 && !ci.Race {
			assert.LessOrEqual(t, at80, protocolSeconds/r.times, "%s, %s: seconds at 80 %% power", r.name, r)
			assert.LessOrEqual(t, lowerBound(alarms, len(same)), regressions.DefaultFalseAlarms, "%s, %s: false alarms", r.name, r)
		}
	}
	t.Logf("decode 10 %% slower, against %.0f s of the protocol\n%s", protocolSeconds, b)
}

func (r race) String() string {
	text := fmt.Sprintf("from %d runs", r.looks[0])
	if r.carried {
		text += ", carried"
	}
	return text
}

// run judges candidates of which decode is 10 % slower, and as many that are
// as the baseline is.
func (r race) run(ctx context.Context, bases, candidates int) (slow, same []said) {
	var mu sync.Mutex
	j := job{gate: regressions.Gate{Looks: r.looks}}
	build := func(seed int, slowdown float64) *build {
		b := newBuild(sim.Config{Noise: sim.Noise{Run: 0.02}, Seed: uint64(seed), DecodeSlowdown: slowdown}, false)
		b.carried = r.carried
		return b
	}
	each(bases, func(i int) {
		base := build(300_000+i, 1)
		for k := range candidates {
			seed := 400_000 + 2*(i*candidates+k)
			s, u := j.noRegression(ctx, r.load, base, build(seed, 1.10)), j.noRegression(ctx, r.load, base, build(seed+1, 1))
			mu.Lock()
			slow, same = append(slow, s), append(same, u)
			mu.Unlock()
		}
	})
	return slow, same
}

func counted(all []said, status regressions.Status) int {
	n := 0
	for _, s := range all {
		if s.status == status {
			n++
		}
	}
	return n
}

// timeToPower is the time by which so large a share has been caught; infinite
// where it never is.
func timeToPower(all []said, power float64) float64 {
	var times []float64
	for _, s := range all {
		if s.status == regressions.Regressed {
			times = append(times, s.seconds)
		} else {
			times = append(times, math.Inf(1))
		}
	}
	slices.Sort(times)
	return times[max(int(math.Ceil(power*float64(len(times)))), 1)-1]
}

// byLook is the share, in per cent, that was caught by each look.
func byLook(all []said) string {
	out := ""
	for _, look := range []int{3, 5, 8, 12} {
		n := 0
		for _, s := range all {
			if s.status == regressions.Regressed && s.runs <= look {
				n++
			}
		}
		out += fmt.Sprintf(" %3.0f", 100*float64(n)/float64(len(all)))
	}
	return out
}

func perRun(all []said) float64 {
	seconds, runs := 0.0, 0
	for _, s := range all {
		seconds, runs = seconds+s.seconds, runs+s.runs
	}
	return seconds / float64(runs)
}
