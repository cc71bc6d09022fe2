package benchtest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// computed is the script as arithmetic.
type computed struct {
	*script
	slotFree []time.Duration
	pending  []engines.Outcome
	clock    time.Duration
}

func (e *computed) Simulate(arrivals iter.Seq[engines.Arrival], done func(engines.Outcome)) {
	e.slotFree, e.pending, e.clock = make([]time.Duration, e.slots), nil, 0
	for a := range arrivals {
		if a.Request == nil {
			e.proceed(a.At, true, done)
			continue
		}
		e.proceed(a.At, false, done)
		e.serve(a)
	}
	for len(e.pending) > 0 {
		e.proceed(0, true, done)
	}
}

// proceed reports what ends until at; of a wait only what ends next, and
// without a limit where at is in the past.
func (e *computed) proceed(at time.Duration, wait bool, done func(engines.Outcome)) {
	unlimited := wait && at < e.clock || at == 0
	for len(e.pending) > 0 {
		o := e.pending[0]
		if o.Reply.Closed > at && !unlimited {
			break
		}
		e.pending = e.pending[1:]
		e.clock = o.Reply.Closed
		done(o)
		if wait {
			return
		}
	}
	e.clock = max(e.clock, at)
}

func (e *computed) serve(a engines.Arrival) {
	n := e.arrived(a.Request)
	start := a.At
	if e.slots > 0 {
		slices.Sort(e.slotFree)
		start = max(start, e.slotFree[0])
	}
	o := engines.Outcome{Request: a.Request}
	o.Reply.Sent = a.At
	if e.fails != nil {
		o.Err = e.fails(n, a.Request)
	}
	end := start
	if o.Err == nil {
		o.Chunks = make([]engines.Chunk, 0, a.Request.MaxTokens)
		for i := range a.Request.MaxTokens {
			if end += e.gap; i == 0 {
				end = start + e.first
			}
			o.Chunks = append(o.Chunks, engines.Chunk{At: end, Token: true, Content: true, Tokens: engines.Known(1)})
		}
		if e.slots > 0 {
			e.slotFree[0] = end
		}
		o.Reply.FirstEvent = o.Chunks[0].At
		o.Reply.Model, o.Reply.Status, o.Reply.Finish = "model", 200, "length"
		o.Reply.PromptTokens, o.Reply.OutputTokens = engines.Known(len(a.Request.Tokens)), engines.Known(a.Request.MaxTokens)
		o.Reply.CachedTokens = engines.Known(0)
	}
	o.Reply.Closed = end
	e.pending = append(e.pending, o)
	slices.SortStableFunc(e.pending, func(a, b engines.Outcome) int { return cmp.Compare(a.Reply.Closed, b.Reply.Closed) })
}

// The arithmetic form makes the same decisions as the form on the clock, to
// the nanosecond.
func TestComputingEqualsTheClock(t *testing.T) {
	failing := func(n int, r *engines.Request) error {
		if r.ID[len(r.ID)-1] == '3' {
			return &engines.Error{Class: engines.Refused, Status: 503, Message: "busy"}
		}
		return nil
	}
	for _, c := range []struct {
		name   string
		engine func() *script
		point  Point
	}{
		{"quiet open loop", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Arrivals: arrival.Poisson{Rate: 20}, Requests: 200}},
		{"queueing open loop", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond, slots: 2} },
			Point{Arrivals: arrival.Poisson{Rate: 30}, Requests: 300, Warmup: 100, Settle: 100}},
		{"overloaded, cut by the drain limit", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond, slots: 1} },
			Point{Arrivals: arrival.Gamma{Rate: 40, Burstiness: 0.5}, Requests: 300, Drain: 2 * time.Second, Limits: Limits{ErrorRate: 1}}},
		{"window in time", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Arrivals: arrival.Poisson{Rate: 20}, Window: 9 * time.Second}},
		{"errors", func() *script {
			return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond, fails: failing}
		},
			Point{Arrivals: arrival.Poisson{Rate: 20}, Requests: 100}},
		{"client limit", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Arrivals: arrival.Poisson{Rate: 30}, Requests: 200, ClientLimit: 2}},
		{"cap", func() *script { return &script{first: 130 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Arrivals: arrival.Poisson{Rate: 30}, Requests: 200, MaxInFlight: 5}},
		{"serial", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Closed: Closed{InFlight: 1}, Requests: 40}},
		{"closed loop", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Closed: Closed{InFlight: 8}, Requests: 200}},
		{"closed loop in time", func() *script {
			return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond, fails: failing}
		},
			Point{Closed: Closed{InFlight: 3}, Window: 3 * time.Second}},
		{"probes beside an open loop", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond, slots: 2} },
			Point{Arrivals: arrival.Poisson{Rate: 30}, Requests: 300, ProbeRate: 3}},
		{"probes beside a load of round numbers", func() *script { return &script{first: 30 * time.Millisecond, gap: 10 * time.Millisecond} },
			Point{Arrivals: arrival.Constant{Rate: 20}, Requests: 100, ProbeRate: 10}},
		{"probes outside a client limit", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Arrivals: arrival.Poisson{Rate: 30}, Requests: 200, ClientLimit: 2, ProbeRate: 7}},
		{"probes outside a cap", func() *script { return &script{first: 130 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Arrivals: arrival.Poisson{Rate: 30}, Requests: 200, MaxInFlight: 5, ProbeRate: 7}},
		{"probes cut by the drain limit", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond, slots: 1} },
			Point{Arrivals: arrival.Gamma{Rate: 40, Burstiness: 0.5}, Requests: 300, Drain: 2 * time.Second, Limits: Limits{ErrorRate: 1}, ProbeRate: 7}},
		{"probes beside a serial loop", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Closed: Closed{InFlight: 1}, Requests: 40, ProbeRate: 11}},
		{"probes beside a closed loop", func() *script { return &script{first: 30 * time.Millisecond, gap: 7 * time.Millisecond} },
			Point{Closed: Closed{InFlight: 8}, Requests: 200, ProbeRate: 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.point.Workload, c.point.Runs = varied{}, 2
			var onClock []*metric.Record
			inBubble(t, func(t *testing.T) {
				runs, err := Run(t.Context(), c.engine(), c.point, Options{})
				require.NoError(t, err)
				onClock = runs.Records
			})
			runs, err := Run(t.Context(), &computed{script: c.engine()}, c.point, Options{})
			require.NoError(t, err)
			for i, r := range runs.Records {
				forget(r)
				forget(onClock[i])
				sameRecord(t, onClock[i], r)
			}
			assert.NotEmpty(t, window(onClock[0]))
			assert.Equal(t, c.point.ProbeRate > 0, len(onClock[0].Probes) > 5)
		})
	}
}

// forget takes out what names the start and the day.
func forget(r *metric.Record) {
	r.StartID, r.Time = "", time.Time{}
	for i := range r.Requests {
		r.Requests[i].ID = fmt.Sprint(i)
	}
	for i := range r.Probes {
		r.Probes[i].ID = fmt.Sprint("probe ", i)
	}
}

// sameRecord fails with the first request that differs.
func sameRecord(t *testing.T, want, got *metric.Record) {
	t.Helper()
	for i := range min(len(want.Requests), len(got.Requests)) {
		require.Equal(t, want.Requests[i], got.Requests[i], "request %d of run %d", i, want.Run)
	}
	require.Len(t, got.Requests, len(want.Requests), "run %d", want.Run)
	require.Equal(t, want, got)
}

// varied asks for outputs of 1 to 12 tokens.
type varied struct{}

func (varied) Request(i int, shape, content uint64) engines.Request {
	r := prompts{16, 1}.Request(i, shape, content)
	r.MaxTokens = 1 + int(derive("length", shape, uint64(i))%12)
	return r
}
