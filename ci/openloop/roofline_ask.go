package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/internal/descriptors"
)

// rooflineAsk is a load that is asked about.
type rooflineAsk struct {
	Rate   float64 `json:"requests_per_sec"`
	Tokens int     `json:"tokens"`
	// Pace is that of a stream, which says with the others how many are open at
	// once. Of one token it is nothing.
	Pace float64 `json:"tokens_per_sec"`
}

// usualPace is a stream of an engine under load.
const usualPace = 50

// rooflineFlags are the flags that were set of those that ask.
type rooflineFlags struct{ rate, tokens, pace bool }

// validate reports everything that is wrong.
func (a *rooflineAsk) validate(set rooflineFlags) error {
	var errs []error
	if set.rate && !(a.Rate > 0 && a.Rate <= 1e6) {
		errs = append(errs, fmt.Errorf("-rate must be above 0 and at most 1,000,000 requests a second, got %v: without it all is measured", a.Rate))
	}
	if a.Tokens < 1 || a.Tokens > 1e6 {
		errs = append(errs, fmt.Errorf("-tokens must be from 1 to 1,000,000, got %d", a.Tokens))
	}
	if !(a.Pace >= 1 && a.Pace <= 10_000) {
		errs = append(errs, fmt.Errorf("-tokens-per-sec must be from 1 to 10,000 a stream, got %v", a.Pace))
	}
	if set.tokens && !set.rate {
		errs = append(errs, fmt.Errorf("-tokens %d needs a -rate, as in -rate 20 -tokens 256", a.Tokens))
	}
	if set.pace && (!set.rate || a.Tokens == 1) {
		errs = append(errs, fmt.Errorf("-tokens-per-sec %v needs a -rate and -tokens above 1, as in -rate 20 -tokens 256", a.Pace))
	}
	return errors.Join(errs...)
}

const (
	// beyond is how many times the CPUs of this host a load may take by the
	// client's cost and is still tried.
	beyond = 1.5
	// askGrace is how much longer it may take than a quarter more than is planned.
	askGrace = 3 * time.Second
)

// rooflineAnswer is whether the load that was asked about is held.
type rooflineAnswer struct {
	rooflineAsk
	// Offered is the load that was offered; nil is none. NotTried is what of the
	// one that is asked about was not.
	Offered  *rooflineStep `json:"offered,omitempty"`
	NotTried []string      `json:"not_tried,omitempty"`
	Held     bool          `json:"held"`
	// Unknown is a load of which this shows nothing, since the server on this
	// host was the limit, the run was invalid for a reason that is not the
	// client's or had not ended in time, or more was offered than is asked for.
	Unknown bool   `json:"unknown"`
	Why     string `json:"why"`
}

// ask offers the load that is asked about.
func (m *rooflineRun) ask(ctx context.Context, ask rooflineAsk) error {
	m.look()
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(m.time.ask))
	defer cancel()
	if err := m.calibrate(ctx); err != nil {
		return err
	}
	return m.answer(ctx, ask)
}

// answer offers it, once the client's cost is known.
func (m *rooflineRun) answer(ctx context.Context, ask rooflineAsk) error {
	l := ask.load()
	a := &rooflineAnswer{rooflineAsk: ask, NotTried: l.NotTried}
	m.out.Asked = a
	said := ask.words()
	if l.NotTried != nil {
		said += fmt.Sprintf(" (offered as %s; not tried: %s)", l.wordsOf(fewPerSecond(l.Rate)), strings.Join(l.NotTried, ", "))
	}
	if why := m.tooMuch(l.Rate, l.events(), l.streams()); why != "" {
		a.Why = said + ": not tried, and not held: " + why
		return nil
	}
	takes := l.takes()
	if m.log != nil && takes > m.time.hard {
		fmt.Fprintf(m.log, "openloop roofline: %s: this takes about %v\n", said, takes.Round(time.Second))
	}
	limit := min(takes*5/4+askGrace, askMost-calibrateFor)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	step, err := m.offer(bounded, l.pace(), benchtest.Point{
		Workload: shortPrompts(l.Tokens), Arrivals: l.arrivals(), Window: l.Window, Settle: l.settle(), Drain: drained(l.lasts()),
	})
	if err != nil {
		if errors.Is(bounded.Err(), context.DeadlineExceeded) {
			a.Unknown = true
			a.Why = fmt.Sprintf("%s: not known, since it was not tried to the end: what is over in %v otherwise had not ended after %v", said, takes.Round(time.Second), limit.Round(time.Second))
			return nil
		}
		return err
	}
	step.Requests, step.Events, step.Streams, step.WindowSec = l.Rate, l.events(), l.streams(), l.Window.Seconds()
	a.saw(step, l.more)
	a.Why = fmt.Sprintf("%s, for %v: %s", said, l.Window.Round(100*time.Millisecond), a.Why)
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
