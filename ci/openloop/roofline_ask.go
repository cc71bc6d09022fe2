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
	"github.com/openloop-go/openloop/benchtest/metric"
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
	// askLeast is the smallest rate that shows something in such a window. Of a
	// lower one the requests are offered as shorter ones.
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
	// host was the limit, the run was invalid for a reason that is not the
	// client's or had not ended in time, or more was offered than is asked for.
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

// asOffered is the load as it is offered in a window of askWindow: one of too few
// requests as more of them that are shorter, with as many events a second. More is
// what that does not bring down to what is asked.
func (a rooflineAsk) asOffered() (offered rooflineAsk, more bool) {
	if a.Rate >= askLeast {
		return a, false
	}
	events := a.Rate * float64(a.Tokens)
	offered.Tokens = max(1, int(events/askLeast))
	offered.Rate = max(askLeast, events/float64(offered.Tokens))
	return offered, events < askLeast
}

// words say it.
func (a rooflineAsk) words() string {
	return fmt.Sprintf("%s requests/s of %s", perSecond(a.Rate), plural(a.Tokens, "token"))
}

// answer offers it, once the client's cost is known.
func (m *rooflineRun) answer(ctx context.Context, ask rooflineAsk) error {
	a := &rooflineAnswer{rooflineAsk: ask}
	m.out.Asked = a
	offered, more := ask.asOffered()
	events := offered.Rate * float64(offered.Tokens)
	load := ask.words()
	if offered != ask {
		load += fmt.Sprintf(" (offered as %s, since fewer requests show nothing in %v)", rooflineAsk{math.Round(100*offered.Rate) / 100, offered.Tokens}.words(), askWindow)
	}
	streams := 0.0
	if offered.Tokens > 1 {
		a.Pace = math.Ceil(max(perStream, float64(offered.Tokens)/askFill.Seconds()))
		streams = events / a.Pace
		load += fmt.Sprintf(", %s events/s in %s streams of %s events/s", whole1000(events), whole1000(math.Ceil(streams)), whole1000(a.Pace))
	}
	if why := m.tooMuch(offered.Rate, events, streams); why != "" {
		a.Why = load + ": not tried, and not held: " + why
		return nil
	}
	var arrivals arrival.Process = arrival.Poisson{Rate: offered.Rate}
	if offered != ask {
		// So few come in bursts of many more events a second than are asked for.
		arrivals = arrival.Constant{Rate: offered.Rate}
	}
	last := time.Duration(0)
	if a.Pace > 0 {
		last = time.Duration(float64(offered.Tokens) / a.Pace * float64(time.Second))
	}
	step, err := m.offer(ctx, a.Pace, benchtest.Point{
		Workload: shortPrompts(offered.Tokens), Arrivals: arrivals, Window: askWindow,
		Settle: max(int(math.Ceil(streams)), int(offered.Rate*0.05), 1), Drain: drained(last),
	})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			a.Unknown = true
			a.Why = fmt.Sprintf("%s: not known: what is over in %v otherwise had not ended after %v", load, askWindow+2*askFill, m.time.hard)
			return nil
		}
		return err
	}
	step.Requests, step.Events, step.Streams = offered.Rate, events, streams
	a.saw(step, more)
	a.Why = load + ": " + a.Why
	return nil
}

// saw takes what came of the load, or of more than was asked for.
func (a *rooflineAnswer) saw(step rooflineStep, more bool) {
	a.Offered, a.Held = &step, step.held()
	a.Unknown = !a.Held && (more || step.Verdict != metric.ClientLimited)
	switch {
	case a.Held:
		a.Why = "held"
	case a.Unknown && more:
		a.Why = "not known: " + step.Verdict + " at more than was asked for"
	case a.Unknown:
		a.Why = "not known: " + step.Verdict
	default:
		a.Why = "not held: " + step.Verdict
	}
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
