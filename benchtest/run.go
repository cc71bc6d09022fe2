package benchtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// run makes one run and judges it. A record is returned also with an error,
// when the window had begun.
func (s *session) run(ctx context.Context, planned PlannedRun) (*metric.Record, error) {
	r := s.newRecord(planned)
	if err := s.warmup(ctx, planned, r); err != nil {
		return nil, err
	}
	if err := s.quiesce(ctx, r); err != nil {
		return nil, fmt.Errorf("waiting for the engine to be idle: %w", err)
	}
	salt, err := s.flush(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("in the flush: %w", err)
	}
	s.openAccount(ctx, r)
	out := s.offer(ctx, s.load(planned, salt, false), s.progress("run", planned.Index, planned.Settle+planned.Window))
	if out.from == 0 {
		return nil, s.diedOf(ctx, out.cut) // nothing was measured
	}
	s.fill(r, out)
	counting := guard(func() error { s.closeAccount(ctx, r, out); return nil })
	problems, warnings := Judge(r, s.plan.Point)
	r.Problems = append(r.Problems, problems...)
	r.Warnings = append(r.Warnings, warnings...)
	s.sameStart(r)
	s.redact(r)
	return r, errors.Join(out.cut, counting)
}

// load is the load of a run: its warmup, or settle, window and cooldown.
func (s *session) load(planned PlannedRun, salt string, warmup bool) load {
	p := s.plan.Point
	l := load{
		inFlight: p.Closed.InFlight, workload: p.Workload, drain: p.Drain,
		clientLimit: p.ClientLimit, maxInFlight: p.MaxInFlight, probeRate: p.ProbeRate,
		salt: salt, model: s.start.model,
	}
	part := "m"
	if warmup {
		part = "w"
		l.seeds = warmupSeeds(planned.Seed, s.start.nonce)
	} else {
		l.seeds = measuredSeeds(planned.Seed, s.start.nonce)
	}
	l.schedule = s.plan.schedule(l.seeds, warmup)
	l.id = fmt.Sprintf("openloop-%08x-%03d%s", uint32(s.start.nonce), planned.Index, part)
	return l
}

// offer offers a load, on the clock or by computing.
func (s *session) offer(ctx context.Context, l load, watch watcher) (out outcome) {
	defer func() {
		s.start.ledger.book(slices.Concat(out.flights, out.probes))
	}()
	devices := s.watchDevices()
	defer devices.end()
	onEdge := func() edge {
		seen, err := devices.edge(ctx)
		e := readEdge(ctx, s.engine)
		e.devices, e.deviceErr = seen, err
		return e
	}
	if s.simulator == nil {
		if err := s.warm(ctx, l); err != nil {
			return outcome{cut: err}
		}
		p := newPass(l, s.engine, s.virtual, onEdge)
		defer watch(p)()
		out = p.run(ctx)
		s.start.peak = max(s.start.peak, out.peak)
		return out
	}
	sim := simulation{load: l, engine: s.simulator, onEdge: onEdge}
	out = sim.run()
	out.origin = virtualOrigin.Add(s.elapsed)
	s.elapsed += out.length()
	return out
}

// length is when the last request of the load had ended.
func (o outcome) length() time.Duration {
	var end time.Duration
	for _, f := range slices.Concat(o.flights, o.probes) {
		end = max(end, f.line.Scheduled, f.line.Closed)
	}
	return end
}
