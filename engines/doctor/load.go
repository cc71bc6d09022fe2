package doctor

import (
	"time"

	"github.com/openloop-go/openloop/engines"
)

// load is the server's own view of its queue; unknown where it has none.
func (v *visit) load() (l engines.Load, err error) {
	if loader, ok := v.engine.(engines.Loader); ok {
		return loader.Load(v.ctx)
	}
	return l, nil
}

// idle: whether others use the server.
func (v *visit) idle() bool {
	const name = "idle"
	var l engines.Load
	var err error
	v.until(2*time.Second, func() bool {
		l, err = v.load()
		return err != nil || !l.Running.Known || l.Idle()
	})
	switch {
	case v.ctx.Err() != nil:
		return false
	case err != nil:
		v.say(name, Unknown, "", "%s", v.words(err))
	case !l.Running.Known:
		v.say(name, Unknown, "", "the server does not tell how many requests it runs")
	case l.Running.N == 0 && l.Waiting.N == 0:
		v.idleSeen = true
		v.say(name, OK, "", "nothing runs that is not from here")
	default:
		v.say(name, Warn, "measure when nobody else uses the server; what follows may be theirs", "%d run and %d wait that are not from here", l.Running.N, l.Waiting.N)
	}
	return true
}

// drop starts a long stream, looks whether the server's gauges show it, drops
// it, and looks whether the server stops working on it.
func (v *visit) drop() bool {
	base, err := v.load()
	if err != nil || !base.Running.Known {
		seen := "the server does not tell how many requests run"
		if err != nil {
			seen = v.words(err)
		}
		if passing(err) {
			v.say(gauges, Unknown, lookAgain, "%s", seen)
		} else {
			v.say(gauges, Warn, v.loadRemedy()+"; else nobody knows whether the engine was idle before a run", "%s", seen)
		}
		v.say(cancel, Unknown, "", "nothing tells whether a dropped stream stops")
		return v.ctx.Err() == nil
	}
	l := v.startLong(v.fit(longOutput, 2*promptTokens))
	if over, err := l.over(); over && passing(err) {
		v.fail(err)
		l.stop()
		l = v.startLong(v.fit(longOutput, 2*promptTokens))
	}
	if over, err := l.over(); over && classOf(err) == engines.Status {
		l.stop()
		l = v.startLong(v.fit(longOutput/8, 2*promptTokens)) // a context shorter than told
	}
	d := dropped{base: base.Running.N, waiting: base.Waiting}
	v.until(5*time.Second, func() bool {
		now, err := v.load()
		d.running = now.Running.N
		over, _ := l.over()
		return over || err == nil && d.running > d.base
	})
	d.over, d.err = l.over()
	d.left = l.left()
	l.stop()
	gone := time.Now()
	idle := func() bool {
		now, err := v.load()
		return err == nil && now.Running.Known && now.Running.N <= d.base
	}
	d.fell = v.until(min(5*time.Second, d.left/2), idle)
	d.took = time.Since(gone)
	if d.running > d.base && !d.fell && d.left > time.Second {
		// vLLM tells its load as of its last step: another step is needed.
		v.fresh(v.engine, 8, fewTokens)
		if d.stale = idle(); !d.stale {
			// What follows needs an idle server.
			v.until(min(l.left(), v.cfg.Patience), idle)
		}
	}
	if v.ctx.Err() != nil {
		return false
	}
	v.queueGauges(d)
	v.cancelled(d)
	return true
}

const gauges, cancel = "queue-gauges", "cancel"

// dropped is what was seen of a stream that was dropped.
type dropped struct {
	base, running int // before it and with it
	waiting       engines.Count
	over          bool  // it had ended before it could be dropped
	err           error // and failed
	fell, stale   bool  // running fell by itself, or with the next request
	took, left    time.Duration
}

func (v *visit) queueGauges(d dropped) {
	const lost = "else nobody knows whether the engine was idle before a run"
	switch {
	case d.running > d.base && d.stale:
		v.say(gauges, Warn, "let requests run out (Point.Drain), or update the server: until its next request it seems busy, and the wait for idleness fails",
			"running rose to %d with a request, and stayed there after it was dropped until the next one", d.running)
	case d.running > d.base && d.fell:
		told := "; waiting is told"
		if !d.waiting.Known {
			told = "; waiting is not told"
		}
		v.say(gauges, OK, "", "running rose from %d to %d with a request, and fell again%s", d.base, d.running, told)
	case d.running > d.base:
		v.say(gauges, OK, "", "running rose from %d to %d with a request", d.base, d.running)
	case d.err != nil:
		v.say(gauges, Unknown, "", "a long stream failed: %s", v.words(d.err))
	case d.over:
		v.say(gauges, Unknown, "", "a long stream was over before the server had been asked")
	default:
		v.say(gauges, Warn, "attach to the server itself; "+lost, "running stayed %d while a request ran", d.base)
	}
}

func (v *visit) cancelled(d dropped) {
	switch {
	case d.running <= d.base:
		v.say(cancel, Unknown, "", "nothing tells whether a dropped stream stops")
	case d.fell:
		v.say(cancel, OK, "", "a dropped stream was let go within %v, with %v of work left", brief(d.took), brief(d.left))
	case d.stale:
		v.say(cancel, OK, "", "a dropped stream was let go, with %v of work left", brief(d.left))
	case d.left <= time.Second:
		v.say(cancel, Unknown, "", "the stream had %v of work left: too little to tell", brief(max(d.left, 0)))
	default:
		v.say(cancel, Warn, "have the server, and whatever is before it, notice clients that go: what one run leaves behind slows the next",
			"%v after a stream was dropped the server still worked on it, with %v of work left then", brief(d.took), brief(d.left))
	}
}

func (v *visit) loadRemedy() string {
	switch {
	case v.other != "":
		return "see to it that nobody else uses the server"
	case v.report.Kind == "openai":
		return "attach to the server itself, by the package of its kind"
	}
	return metricsRemedy(v.report.Kind)
}
