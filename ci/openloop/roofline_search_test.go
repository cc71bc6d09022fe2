package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestAClimb(t *testing.T) {
	for _, c := range []struct {
		what         string
		first, limit float64
		tried        []float64
		held, failed float64
	}{
		{"up", 9000, 41_234, []float64{9000, 18_000, 36_000, 72_000}, 36_000, 72_000},
		{"down, and between", 9000, 1234, []float64{9000, 2300, 580, 1200}, 1200, 2300},
		{"the limit is the first step", 9000, 9000, []float64{9000, 18_000}, 9000, 18_000},
		{"no limit", 900_000, 1e9, []float64{900_000, 1_000_000}, 1_000_000, 0},
		{"nothing is held", 9000, 1, []float64{9000, 2300, 580, 150, 50}, 0, 50},
		{"a first step below the least", 1, 60, []float64{50, 100}, 50, 100},
	} {
		s := climb{first: c.first, least: 50, most: 1_000_000}
		var tried []float64
		for {
			load, more := s.next()
			if !more {
				break
			}
			require.Less(t, len(tried), 30, c.what)
			tried = append(tried, load)
			s.saw(load, load <= c.limit)
		}
		assert.Equal(t, c.tried, tried, c.what)
		assert.Equal(t, []float64{c.held, c.failed}, []float64{s.held, s.failed}, c.what)
	}
}

// What was held is tried twice for longer, and less of it where that is not held.
func TestWhatIsHeldForLonger(t *testing.T) {
	y, n := true, false
	for _, c := range []struct {
		what         string
		climbed      float64
		seen         []bool
		tried        []float64
		held, failed float64
		sec          float64
	}{
		{"at once", 9000, []bool{y, y}, []float64{9000, 9000}, 9000, 0, 2},
		{"less", 9000, []bool{n, y, y}, []float64{9000, 6300, 6300}, 6300, 9000, 2},
		{"not the second time", 9000, []bool{y, n, y, y}, []float64{9000, 9000, 6300, 6300}, 6300, 9000, 2},
		{"much less", 9000, []bool{n, n, y, y}, []float64{9000, 6300, 4400, 4400}, 4400, 6300, 2},
		{"not the least", 60, []bool{n, n}, []float64{60, 50}, 0, 50, 0},
		{"nothing was", 0, nil, nil, 0, 0, 0},
	} {
		s := climb{least: 50, most: 1_000_000}
		if c.climbed > 0 {
			s.saw(c.climbed, true)
		}
		var tried []float64
		for {
			load, more := s.longer()
			if !more {
				break
			}
			require.Less(t, len(tried), len(c.seen), c.what)
			s.sawLonger(load, c.seen[len(tried)])
			tried = append(tried, load)
		}
		assert.Equal(t, c.tried, tried, c.what)
		assert.Equal(t, []float64{c.held, c.failed, c.sec}, []float64{*s.result(), s.failed, s.heldFor()}, c.what)
	}
}

// What there was no time for is nothing, and not 0; of what was held for a short
// time that is said which is below what was not held for longer.
func TestTheResultOfAClimb(t *testing.T) {
	cut := climb{cut: true}
	cut.saw(9000, false)
	assert.Nil(t, cut.result())
	assert.Zero(t, cut.heldFor(), "unknown")

	none := climb{least: 50}
	none.saw(50, false)
	assert.Equal(t, 0.0, *none.result(), "not even the least")

	short := climb{cut: true}
	short.saw(4000, true)
	short.saw(9000, true)
	short.sawLonger(9000, false)
	assert.Equal(t, 4000.0, *short.result())
	assert.Equal(t, 0.25, short.heldFor())

	kept := short.result()
	short = climb{}
	assert.Equal(t, 4000.0, *kept, "another climb is another's")
}

func TestPredict(t *testing.T) {
	for _, c := range []struct {
		cost             *rooflineCost
		cpus             int
		requests, events float64
	}{
		{&rooflineCost{40e-6, 8e-6}, 2, 50_000, 113208},
		{&rooflineCost{40e-6, 8e-6}, 16, 400_000, 500_000}, // by the loops that read
		{nil, 2, 25_000, 56604},
		{&rooflineCost{40e-6, 0}, 2, 25_000, 56604},
	} {
		requests, events := predict(c.cost, c.cpus)
		assert.Equal(t, []float64{c.requests, c.events}, []float64{math.Round(requests), math.Round(events)})
	}
}

// testStep is one that a test has a search make: how long it takes and what comes of
// it.
type testStep struct {
	takes   time.Duration
	verdict string
	err     error
}

// A climb ends in time, and keeps what was seen until then.
func TestAClimbThatIsCut(t *testing.T) {
	const s = time.Second
	ok, not := metric.ClientOK, metric.ClientLimited
	for _, c := range []struct {
		what  string
		kind  string
		least float64
		steps []testStep
		tried int
		// made are the steps that are kept, took all of them.
		made         int
		took         time.Duration
		held, failed float64
		cut          bool
		note         string
	}{
		{"there is no time for another, nor for longer", coldKind, 100, []testStep{{5 * s / 2, ok, nil}}, 1, 1, 5 * s / 2, 1000, 0, true,
			"the steps of requests were ended for time: a longer climb would come nearer to the limit\nthere was no time to try 1,000 requests a second for longer"},
		{"the rest of the time is for what was held, once", coldKind, 100, []testStep{{s / 4, ok, nil}, {s, ok, nil}, {s, ok, nil}}, 3, 3, 9 * s / 4, 2000, 0, true,
			"the steps of requests were ended for time: a longer climb would come nearer to the limit"},
		{"all there is to try", coldKind, 100, []testStep{{s / 8, ok, nil}, {s / 8, not, nil}, {s / 2, ok, nil}, {s / 2, ok, nil}}, 4, 4, 5 * s / 4, 1000, 2000, false, ""},
		{"less, for longer", coldKind, 100, []testStep{{s / 8, ok, nil}, {s / 8, not, nil}, {s / 2, not, nil}, {s / 2, ok, nil}, {s / 2, ok, nil}}, 5, 5, 7 * s / 4, 700, 1000, false, ""},
		{"one that is too long", "events", 100, []testStep{{s / 4, ok, nil}, {time.Hour, ok, nil}}, 2, 1, 6 * s, 1000, 0, true,
			"the steps of events were ended for time: 2,000 a second were begun and not ended"},
		{"the second try of the first is too long", coldKind, 100, []testStep{{s, not, nil}, {time.Hour, ok, nil}}, 2, 1, 6 * s, 0, 1000, true,
			"the steps of requests were ended for time: a longer climb would come nearer to the limit"},
		{"the second try of the first is held", coldKind, 100, []testStep{{s / 4, not, nil}, {s / 4, ok, nil}, {s, ok, nil}, {s, ok, nil}}, 4, 3, 5 * s / 2, 2000, 0, true,
			"the steps of requests were ended for time: a longer climb would come nearer to the limit"},
		{"no second try of another kind, and down for longer", "events", 1, []testStep{{s, not, nil}, {s, not, nil}, {s, not, nil}, {s, not, nil}}, 4, 4, 4 * s, 0, 16, true,
			"the steps of events were ended for time: a longer climb would come nearer to the limit"},
		{"down to the least", "events", 100, []testStep{{s / 2, not, nil}, {s / 2, not, nil}, {s / 2, not, nil}}, 3, 3, 3 * s / 2, 0, 100, false, ""},
		{"the first is too long", coldKind, 100, []testStep{{time.Hour, ok, nil}}, 1, 0, 6 * s, 0, 0, true,
			"the steps of requests were ended for time: 1,000 a second were begun and not ended"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := rooflineRun{grace: 2 * s, downwards: s}
			climb := climb{first: 1000, least: c.least, most: 1e6}
			var steps []rooflineStep
			tried := 0
			begun := time.Now()
			err := m.search(t.Context(), c.kind, begun.Add(3*s), &climb, &steps, func(ctx context.Context, load float64, window time.Duration) (rooflineStep, error) {
				require.Less(t, tried, len(c.steps), c.what)
				step := c.steps[tried]
				tried++
				select {
				case <-time.After(step.takes):
				case <-ctx.Done():
					return rooflineStep{}, ctx.Err()
				}
				return rooflineStep{Requests: load, Verdict: step.verdict}, step.err
			})
			require.NoError(t, err, c.what)
			assert.Equal(t, c.tried, tried, c.what)
			assert.Len(t, steps, c.made, c.what)
			assert.Equal(t, c.took, time.Since(begun), c.what)
			assert.Equal(t, []float64{c.held, c.failed}, []float64{at(climb.result()), climb.failed}, c.what)
			assert.Equal(t, c.cut, climb.cut, c.what)
			assert.Equal(t, c.note, strings.Join(m.out.Notes, "\n"), c.what)
		})
	}
}

// at is what a pointer is to; nil is 0.
func at(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// What is no matter of time ends the measurement.
func TestAStepThatFails(t *testing.T) {
	broken := errors.New("the server has ended")
	for _, first := range []string{"", metric.ClientLimited} {
		var m rooflineRun
		var steps []rooflineStep
		tried := 0
		err := m.search(t.Context(), coldKind, time.Now().Add(time.Hour), &climb{first: 1000, least: 100, most: 1e6}, &steps,
			func(context.Context, float64, time.Duration) (rooflineStep, error) {
				if tried++; first == "" || tried == 2 {
					return rooflineStep{}, broken
				}
				return rooflineStep{Verdict: first}, nil
			})
		assert.Equal(t, broken, err)
		assert.Empty(t, steps)
	}
}

// Ten seconds, and never more than twelve: what follows the climbs, and the
// question after what was sent in a step that was cut, have their time.
func TestTheTimeOfARoofline(t *testing.T) {
	climbs := usualTime.events + usualGrace + usualDownwards
	assert.Less(t, usualTime.requests+usualGrace+usualDownwards, usualTime.events)
	assert.Less(t, climbs, usualTime.hard)
	assert.Less(t, usualTime.hard+journalFor, 12*time.Second)
}
