package main

import (
	"context"
	"errors"
	"time"
)

// coldKind is the kind of steps that comes first.
const coldKind = "requests"

// try makes a step of a load, whose window is so long.
type try func(ctx context.Context, load float64, window time.Duration) (rooflineStep, error)

// ascent is a climb on its way.
type ascent struct {
	*climb
	run   *rooflineRun
	kind  string
	end   time.Time
	steps *[]rooflineStep
	do    try
	// takes is what the longest step took that was no longer than stepWindow.
	takes time.Duration
}

// search makes the steps of a climb until the limit is found and what is below
// it was held for longer, or there is no time for another.
func (m *rooflineRun) search(ctx context.Context, kind string, end time.Time, c *climb, steps *[]rooflineStep, do try) error {
	ctx, cancel := context.WithDeadline(ctx, end.Add(m.grace+m.downwards))
	defer cancel()
	a := &ascent{climb: c, run: m, kind: kind, end: end, steps: steps, do: do}
	if over, err := a.up(ctx); over || err != nil {
		return err
	}
	return a.confirm(ctx)
}

// up makes the steps of the climb itself; over is that there is no time for more.
func (a *ascent) up(ctx context.Context) (over bool, err error) {
	for {
		load, more := a.next()
		if !more {
			return false, nil
		}
		takes := a.takes
		if a.held > 0 { // and time is left to try that for longer
			takes += a.takesLonger()
		}
		if len(*a.steps) > 0 && !a.time(takes, a.held == 0) {
			a.cut = true
			a.run.note("the steps of %s were ended for time: a longer climb would come nearer to the limit", a.kind)
			return a.held == 0, nil
		}
		begun := time.Now()
		held, over, err := a.step(ctx, load, stepWindow)
		if over || err != nil {
			return over, err
		}
		a.takes = max(a.takes, time.Since(begun))
		a.saw(load, held)
	}
}

// confirm tries for longer what was held.
func (a *ascent) confirm(ctx context.Context) error {
	for {
		load, more := a.longer()
		if !more {
			return nil
		}
		if !a.time(a.takesLonger(), a.confirmed == 0) {
			if a.confirmed == 0 {
				a.cut = true
				a.run.note("there was no time to try %s %s a second for longer", whole1000(load), a.kind)
			}
			return nil
		}
		held, over, err := a.step(ctx, load, longWindow)
		if over || err != nil {
			return err
		}
		a.sawLonger(load, held)
	}
}

// takesLonger is what a step takes of longWindow.
func (a *ascent) takesLonger() time.Duration { return a.takes + longWindow - stepWindow }

// time reports whether there is time for a step; a climb that has nothing yet
// is given more.
func (a *ascent) time(takes time.Duration, nothing bool) bool {
	last := a.end
	if nothing {
		last = last.Add(a.run.downwards)
	}
	return !time.Now().Add(takes).After(last)
}

// step makes one; over is that it was cut for time.
func (a *ascent) step(ctx context.Context, load float64, window time.Duration) (held, over bool, err error) {
	step, err := a.do(ctx, load, window)
	if err == nil && !step.held() && a.kind == coldKind && len(*a.steps) == 0 {
		// The very first was this process's first load too, and made its heap and
		// its threads.
		if again, cut := a.do(ctx, load, window); cut == nil {
			step = again
		} else if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = cut
		} // else what is known of that load is the first try
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		a.run.note("the steps of %s were ended for time: %s a second were begun and not ended", a.kind, whole1000(load))
		a.cut = true
		return false, true, nil
	case err != nil:
		return false, false, err
	}
	step.WindowSec = window.Seconds()
	*a.steps = append(*a.steps, step)
	return step.held(), false, nil
}
