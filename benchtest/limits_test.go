package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What may be the client's of a latency follows from the point before the run.
func TestTheLimitsOfThePoint(t *testing.T) {
	for _, c := range []struct {
		name             string
		slo              SLO
		limits           Limits
		lag, wake, stamp time.Duration
	}{
		{"none is said", SLO{}, Limits{}, 5 * time.Millisecond, 5 * time.Millisecond, time.Millisecond},
		{"an SLO of half a second", SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}, Limits{}, 5 * time.Millisecond, 5 * time.Millisecond, time.Millisecond},
		{"of 200 ms", SLO{TTFT: 200 * time.Millisecond, E2E: 10 * time.Second}, Limits{}, 2 * time.Millisecond, 5 * time.Millisecond, time.Millisecond},
		{"of 150 ms to the end", SLO{E2E: 150 * time.Millisecond}, Limits{}, 1500 * time.Microsecond, 5 * time.Millisecond, time.Millisecond},
		{"of 20 ms, which no host holds to 1 %", SLO{TTFT: 20 * time.Millisecond}, Limits{}, 500 * time.Microsecond, 5 * time.Millisecond, time.Millisecond},
		{"of two seconds", SLO{TTFT: 2 * time.Second}, Limits{}, 5 * time.Millisecond, 5 * time.Millisecond, time.Millisecond},
		{"lag is said, and with it what else may be late", SLO{TTFT: 20 * time.Millisecond}, Limits{Lag: 200 * time.Millisecond}, 200 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond},
		{"all are said", SLO{}, Limits{Lag: 20 * time.Millisecond, Wake: 7 * time.Millisecond, Stamp: 300 * time.Microsecond}, 20 * time.Millisecond, 7 * time.Millisecond, 300 * time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := usual()
			p.SLO, p.Limits = c.slo, c.limits
			got := p.orDefaults().orDefaults().Limits
			assert.Equal(t, []time.Duration{c.lag, c.wake, c.stamp}, []time.Duration{got.Lag, got.Wake, got.Stamp})
		})
	}
}

// An objective of 20 ms asks for requests that leave within half a millisecond, and
// not for wake-ups that hosts with idle CPU are now and then later for.
func TestAnIdleHostHoldsAShortObjective(t *testing.T) {
	r := good()
	r.Client.Readings = map[string]float64{readScheduler: 700e-6, readWake: 900e-6, readStoppedShare: 0.02, readStoppedMax: 800e-6}
	p := usual()
	p.Requests, p.SLO = 100, SLO{TTFT: 20 * time.Millisecond}
	problems, _ := Judge(r, p)
	assert.Empty(t, problems)

	for i := range r.Requests {
		r.Requests[i].Sent += 600 * time.Microsecond
	}
	problems, _ = Judge(r, p)
	assert.Len(t, problems, 1, "requests that leave late are another matter: %v", problems)
}
