package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/internal/descriptors"
)

// rooflineAsk is a load that is asked about.
type rooflineAsk struct {
	Rate   float64 `json:"requests_per_sec"`
	Tokens int     `json:"tokens"`
}

// validate reports everything that is wrong.
func (a *rooflineAsk) validate() error {
	var errs []error
	if !(a.Rate >= 0 && a.Rate <= 1e6) {
		errs = append(errs, fmt.Errorf("-rate must be from 0 to 1,000,000 requests a second, got %v", a.Rate))
	}
	if a.Tokens < 1 || a.Tokens > 1e6 {
		errs = append(errs, fmt.Errorf("-tokens must be from 1 to 1,000,000, got %d", a.Tokens))
	}
	if a.Tokens > 1 && a.Rate == 0 {
		errs = append(errs, fmt.Errorf("-tokens %d needs a -rate, as in -rate 20 -tokens 256", a.Tokens))
	}
	return errors.Join(errs...)
}

const (
	// askWindow is the window of a load that is asked about, and askFill how
	// long its streams may last: the window begins when they are all open, and
	// the last of them are to end in time.
	askWindow, askFill = 2 * time.Second, 2 * time.Second
	// askLeast is the smallest rate that shows something in such a window.
	askLeast = 5
	// beyond is how many times the CPUs of this host a load may take by the
	// client's cost and is still tried.
	beyond = 1.5
)

// rooflineAnswer is whether the load that was asked about is held.
type rooflineAnswer struct {
	rooflineAsk
	// Offered is the load that was offered; nil is none.
	Offered *rooflineStep `json:"offered,omitempty"`
	// Pace is the events a second of each of its streams; 0 is all at once.
	Pace float64 `json:"events_per_sec_of_a_stream"`
	Held bool    `json:"held"`
	// Unknown is a load of which this shows nothing, since the server on this
	// host was the limit, or the run was invalid for a reason that is not the
	// client's.
	Unknown bool   `json:"unknown"`
	Why     string `json:"why"`
}

// ask offers the load that is asked about.
func (m *rooflineRun) ask(ctx context.Context, ask rooflineAsk) error {
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(m.time.hard))
	defer cancel()
	if err := m.calibrate(ctx); err != nil {
		return err
	}
	return m.answer(ctx, ask)
}

// answer offers it, once the client's cost is known.
func (m *rooflineRun) answer(ctx context.Context, ask rooflineAsk) error {
	a := &rooflineAnswer{rooflineAsk: ask}
	m.out.Asked = a
	rate := max(ask.Rate, askLeast)
	events := rate * float64(ask.Tokens)
	load := fmt.Sprintf("%s requests/s of %s", perSecond(ask.Rate), plural(ask.Tokens, "token"))
	if ask.Rate < askLeast {
		load = fmt.Sprintf("%v requests/s of %s (as %d a second, since fewer show nothing in %v)", ask.Rate, plural(ask.Tokens, "token"), askLeast, askWindow)
	}
	streams := 0.0
	if ask.Tokens > 1 {
		a.Pace = math.Ceil(max(perStream, float64(ask.Tokens)/askFill.Seconds()))
		streams = events / a.Pace
		load += fmt.Sprintf(", %s events/s in %s streams of %s events/s", whole1000(events), whole1000(math.Ceil(streams)), whole1000(a.Pace))
	}
	if why := m.tooMuch(rate, events, streams); why != "" {
		a.Why = load + ": not tried, and not held: " + why
		return nil
	}
	last := time.Duration(0)
	if a.Pace > 0 {
		last = time.Duration(float64(ask.Tokens) / a.Pace * float64(time.Second))
	}
	step, err := m.offer(ctx, a.Pace, benchtest.Point{
		Workload: shortPrompts(ask.Tokens), Arrivals: arrival.Poisson{Rate: rate}, Window: askWindow,
		Settle: max(int(math.Ceil(streams)), int(rate*0.05), 1), Drain: drained(last),
	})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			a.Why = fmt.Sprintf("%s: not held: what is over in %v otherwise had not ended after %v", load, askWindow+2*askFill, m.time.hard)
			return nil
		}
		return err
	}
	step.Requests, step.Events, step.Streams = rate, events, streams
	a.Offered, a.Held, a.Unknown = &step, step.held(), step.Verdict == serverLimited || step.Verdict == stepInvalid
	word := "held"
	switch {
	case a.Unknown:
		word = "not known: " + step.Verdict
	case !a.Held:
		word = "not held: " + step.Verdict
	}
	a.Why = load + ": " + word
	return nil
}

// tooMuch says why a load is not worth trying; empty is that it is.
func (m *rooflineRun) tooMuch(rate, events, streams float64) string {
	cpus := runtime.GOMAXPROCS(0)
	if c := m.out.Client; c != nil {
		if need := rate*c.RequestSec + events*c.EventSec; need > beyond*float64(cpus) {
			return fmt.Sprintf("the client alone takes %.3g CPUs by its calibrated cost, and this host has %d", need, cpus)
		}
	}
	need := descriptors.Need{What: whole1000(math.Ceil(streams)) + " streams", More: int(math.Ceil(streams)), Else: otherFiles}
	return need.Beyond(descriptors.Limit())
}
