package benchtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

func TestRoomForALoad(t *testing.T) {
	cost := engines.Cost{Request: 80 * time.Microsecond, Event: 10 * time.Microsecond}
	for _, c := range []struct {
		name             string
		requests, events float64
		cpus             int
		want             string
	}{
		{"4 a second of 256 tokens", 12, 12 * 256, 2, ""},
		{"up to 0.7 of two CPUs", 0, 139_999, 2, ""},
		{"more than that", 0, 140_001, 2, "this host may be too small for this load: its busiest second has 0 requests of 140001 events together, which take the client 1.4 CPUs (80µs a request and 10µs an event, as calibrated), and there is room for 1.4 of 2: expect client-limited runs; lower the load, or give the client more CPUs (openloop roofline tells what this host can offer)"},
		{"30,000 requests a second of one token", 30_000, 30_000, 2, "this host may be too small for this load: its busiest second has 30000 requests of 30000 events together, which take the client 2.7 CPUs (80µs a request and 10µs an event, as calibrated), and there is room for 1.4 of 2: expect client-limited runs; lower the load, or give the client more CPUs (openloop roofline tells what this host can offer)"},
		{"and on sixteen CPUs", 30_000, 30_000, 16, ""},
	} {
		assert.Equal(t, c.want, noRoom(cost, c.requests, c.events, c.cpus), c.name)
	}
}

func TestWakesLate(t *testing.T) {
	s := &session{plan: Plan{Point: usual().orDefaults()}}
	on, late := make([]time.Duration, 25), make([]time.Duration, 25)
	for i := range late {
		on[i] = time.Duration(i) * 10 * time.Microsecond
		late[i] = time.Duration(i) * time.Millisecond
	}
	assert.Empty(t, s.wakesLate(nil), "not known")
	assert.Empty(t, s.wakesLate(on))
	assert.Equal(t, "this host is busy: of 25 wake-ups just now one in ten was 22ms late or more, and the limit of lag is 5ms: expect client-limited runs; end what else runs here, or raise Limits.Lag", s.wakesLate(late))
}

// costly is an engine whose client takes so much.
type costly struct {
	real
	asked *int
	err   error
}

func (c costly) Calibrate(context.Context) (engines.Cost, error) {
	*c.asked++
	return engines.Cost{Request: 100 * time.Microsecond, Event: 2 * time.Second}, c.err
}

// The warning comes before the load and is in the record; a host that is known
// is not calibrated again.
func TestThePreflightWarns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		asked := 0
		engine := costly{real: real{quick()}, asked: &asked, err: errors.New("no loopback device")}
		p := usual()
		var logs []string
		run := func() []string {
			logs = nil
			runs, err := Run(t.Context(), engine, p, Options{Log: func(f string, a ...any) { logs = append(logs, a[0].(string)) }})
			require.NoError(t, err)
			return slices.DeleteFunc(runs.Records[0].Warnings, func(w string) bool { return strings.HasPrefix(w, "the race detector") })
		}
		assert.Empty(t, run(), "what is not known is no warning")
		assert.Equal(t, "benchtest: the client could not be calibrated: no loopback device", logs[0])
		engine.err = nil
		for range 2 {
			warnings := run()
			require.Len(t, warnings, 1)
			assert.Contains(t, warnings[0], "its busiest second has 10 requests of 40 events together, which take the client 80 CPUs (100µs a request and 2s an event, as calibrated)")
			assert.Equal(t, "benchtest: "+warnings[0], logs[0])
		}
		assert.Equal(t, 2, asked, "once in vain, and once")
	})
}

// The busiest second is what counts, not the mean.
func TestTheBusiestSecond(t *testing.T) {
	p := usual()
	p.Arrivals = arrival.Steps{{Rate: 10, For: 20 * time.Second}, {Rate: 40, For: 5 * time.Second}, {Rate: 10}}
	p.Requests, p.Window = 0, 40*time.Second
	s, err := newSession(quick(), p, Options{})
	require.NoError(t, err)
	requests, events, err := s.busiest()
	require.NoError(t, err)
	assert.InDelta(t, 50, requests, 12)
	assert.Equal(t, 4*requests, events)
}
