package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// A load is offered as it is asked about, with its streams at once, and in more
// time where they are long. Where they are too long, or requests too few, more and
// shorter ones have as many events a second.
func TestALoadAsItIsOffered(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		what    string
		asked   rooflineAsk
		offered rooflineAsk
		streams float64
		window  time.Duration
		takes   time.Duration
		more    bool
		not     []string
	}{
		{"short requests", rooflineAsk{20, 1, 50}, rooflineAsk{20, 1, 50}, 0, 2 * s, 2550 * time.Millisecond, false, nil},
		{"streams", rooflineAsk{20, 100, 50}, rooflineAsk{20, 100, 50}, 40, 2 * s, 7 * s, false, nil},
		{"streams that are longer than the window", rooflineAsk{80, 640, 50}, rooflineAsk{80, 640, 50}, 1024, 2 * s, 31_300 * time.Millisecond, false, nil},
		{"few", rooflineAsk{2.5, 1, 50}, rooflineAsk{2.5, 1, 50}, 0, 4 * s, 4900 * time.Millisecond, false, nil},
		{"the fewest", rooflineAsk{0.5, 1, 50}, rooflineAsk{0.5, 1, 50}, 0, 20 * s, 22_500 * time.Millisecond, false, nil},
		{"too few", rooflineAsk{0.25, 1, 50}, rooflineAsk{0.5, 1, 50}, 0, 20 * s, 22_500 * time.Millisecond, true, []string{"fewer than 10 requests in 20s"}},
		{"too few, of some tokens", rooflineAsk{0.125, 80, 40}, rooflineAsk{0.5, 20, 40}, 0.25, 20 * s, 23_125 * time.Millisecond, false, []string{"fewer than 10 requests in 20s"}},
		{"too long", rooflineAsk{2, 3000, 50}, rooflineAsk{8, 750, 50}, 120, 2 * s, 36_250 * time.Millisecond, false, []string{"streams longer than 15s"}},
		{"ten minutes", rooflineAsk{0.125, 60_000, 50}, rooflineAsk{10, 750, 50}, 150, 2 * s, 36_250 * time.Millisecond, false, []string{"streams longer than 15s"}},
		{"too long and too few", rooflineAsk{0.0078125, 9600, 50}, rooflineAsk{0.5, 150, 50}, 1.5, 20 * s, 28_250 * time.Millisecond, false,
			[]string{"streams longer than 15s", "fewer than 10 requests in 20s"}},
	} {
		l := c.asked.load()
		assert.Equal(t, c.offered, l.rooflineAsk, c.what)
		assert.InDelta(t, c.streams, l.streams(), 1e-9, c.what)
		assert.Equal(t, c.window, l.Window, c.what)
		assert.Equal(t, c.takes, l.takes(), c.what)
		assert.Equal(t, c.more, l.more, c.what)
		assert.Equal(t, c.not, l.NotTried, c.what)
		assert.Less(t, calibrateFor+l.takes()+askGrace, askMost, c.what)
		if !c.more {
			assert.InDelta(t, c.asked.events(), l.events(), 1e-9, c.what)
			assert.InDelta(t, c.asked.streams(), l.streams(), 1e-9, c.what)
		}
	}
}

// Users come at random. What stands for others comes evenly, and what is so little
// that a burst would be most of it.
func TestTheArrivalsOfALoad(t *testing.T) {
	assert.Equal(t, arrival.Poisson{Rate: 20}, rooflineAsk{20, 100, 50}.load().arrivals())
	assert.Equal(t, arrival.Constant{Rate: 2.5}, rooflineAsk{2.5, 1, 50}.load().arrivals())
	assert.Equal(t, arrival.Constant{Rate: 8}, rooflineAsk{2, 3000, 50}.load().arrivals())
}

func TestALoadInWords(t *testing.T) {
	assert.Equal(t, "78 requests/s of 640 tokens, 49,920 events/s in 999 streams of 50 events/s", rooflineAsk{78, 640, 50}.words())
	assert.Equal(t, "0.5 requests/s of 2 tokens, 1 events/s in 1 stream of 7.5 events/s", rooflineAsk{0.5, 2, 7.5}.words())
	assert.Equal(t, "7.5 requests/s of 1 token", rooflineAsk{7.5, 1, 50}.words())
}
