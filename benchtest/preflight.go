package benchtest

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

const (
	// roomShare is the share of this process's CPUs that a load may take by
	// calculation. Above it requests wait for a CPU often enough for the p99 of
	// lag to show it.
	roomShare = 0.7
	// sampledTokens is how many requests stand for a workload's output lengths.
	sampledTokens = 64
	// wakeTries are the wake-ups that show whether the host is free now, each
	// after wakeTry.
	wakeTries, wakeTry = 25, 2 * time.Millisecond
)

// preflight warns, before the first load on a real clock, of what will make its
// runs client-limited: a load that this host cannot offer, and a host that is
// busy now. It is a warning, since only the run shows what was.
func (s *session) preflight(ctx context.Context) {
	if s.virtual {
		return
	}
	if c, ok := s.engine.(engines.Calibrator); ok && s.plan.Point.Arrivals != nil {
		cost, err := calibrated(ctx, s.engine, c)
		if err != nil {
			s.logf("the client could not be calibrated: %v", err)
		} else if requests, events, err := s.busiest(); err == nil {
			s.foresee(noRoom(cost, requests, events, runtime.GOMAXPROCS(0)))
		}
	}
	s.foresee(s.wakesLate(tryWakes()))
}

// foresee logs a warning and keeps it for the records; none is empty.
func (s *session) foresee(warning string) {
	if warning != "" {
		s.logf("%s", warning)
		s.foreseen = append(s.foreseen, warning)
	}
}

// calibrations are the costs of clients that this process knows.
var calibrations struct {
	sync.Mutex
	of map[reflect.Type]engines.Cost
}

// calibrated is what the engine's client costs on this host, which is found out
// once in a process.
func calibrated(ctx context.Context, engine engines.Engine, c engines.Calibrator) (engines.Cost, error) {
	calibrations.Lock()
	defer calibrations.Unlock()
	key := reflect.TypeOf(engine)
	if cost, ok := calibrations.of[key]; ok {
		return cost, nil
	}
	cost, err := c.Calibrate(ctx)
	if err == nil {
		if calibrations.of == nil {
			calibrations.of = map[reflect.Type]engines.Cost{}
		}
		calibrations.of[key] = cost
	}
	return cost, err
}

// busiest is the number of requests in the busiest second of the first run's
// settle and window, and of the events that they ask for, one a token.
func (s *session) busiest() (requests, events float64, err error) {
	planned, err := s.plan.run(0)
	if err != nil {
		return 0, 0, err
	}
	seeds := measuredSeeds(planned.Seed, 0)
	var due []time.Duration
	for d := range s.plan.schedule(seeds, false).dues() {
		if d.phase == metric.Cooldown {
			break
		}
		due = append(due, d.at)
	}
	tokens, n := 0, min(sampledTokens, len(due))
	for i := range n {
		r, err := request(s.plan.Point.Workload, i, seeds.shape, seeds.content)
		if err != nil {
			return 0, 0, err
		}
		tokens += r.MaxTokens
	}
	requests = float64(arrival.Burst(due, time.Second))
	return requests, requests * float64(tokens) / float64(max(n, 1)), nil
}

// noRoom says that a load takes more of the CPUs than there is room for; empty
// where there is.
func noRoom(cost engines.Cost, requests, events float64, cpus int) string {
	need := cost.CPUs(requests, events)
	if need <= roomShare*float64(cpus) {
		return ""
	}
	return fmt.Sprintf("this host may be too small for this load: its busiest second has %.0f requests of %.0f events together, which take the client %.2g CPUs (%v a request and %v an event, as calibrated), and there is room for %.2g of %d: expect client-limited runs; lower the load, or give the client more CPUs (openloop roofline tells what this host can offer)",
		requests, events, need, cost.Request, cost.Event, roomShare*float64(cpus), cpus)
}

// tryWakes is how late this process wakes up just now, sorted; nil where it
// cannot be told.
func tryWakes() []time.Duration {
	w := newWaiter(time.Now(), false)
	defer w.close()
	var late []time.Duration
	for range wakeTries {
		at := w.now() + wakeTry
		if w.alarm == nil || !w.alarm.wait(at) {
			return nil
		}
		late = append(late, w.now()-at)
	}
	slices.Sort(late)
	return late
}

// wakesLate says that a tenth of the wake-ups were later than the limit of lag;
// empty where they were not, or nothing is known.
func (s *session) wakesLate(late []time.Duration) string {
	if len(late) == 0 {
		return ""
	}
	p90, limit := late[len(late)*9/10], s.plan.Point.Limits.Lag
	if p90 <= limit {
		return ""
	}
	return fmt.Sprintf("this host is busy: of %d wake-ups just now one in ten was %v late or more, and the limit of lag is %v: expect client-limited runs; end what else runs here, or raise Limits.Lag", len(late), p90.Round(time.Microsecond), limit)
}
