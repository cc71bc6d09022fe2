package regressions_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/regressions"
)

// tally counts what a gate said of builds.
type tally struct {
	n, caught, undecided int
	seconds              float64
}

func (c *tally) add(s said) {
	c.n++
	c.seconds += s.seconds
	switch {
	case s.red():
		c.caught++
	case s.status == regressions.Inconclusive:
		c.undecided++
	}
}

func (c *tally) String() string { return fmt.Sprintf("%d of %d", c.caught, c.n) }

// mean is the engine's time to a verdict, in seconds.
func (c *tally) mean() float64 { return c.seconds / float64(c.n) }

// row is the score of one gate.
type row struct {
	contender
	job *job // nil for rivals
	// all are the mutants together, owed those that the first row owes, own
	// those that this one does.
	all, owed, own tally
	of             map[string]*tally
	effects        map[string]effect
	slips          map[string]string
	unchanged      map[variation]*tally
}

// score is the table.
type score struct {
	mu      sync.Mutex
	rows    []*row
	mutants []mutant
	alarms  []string
}

func newScore() *score {
	s := &score{}
	for i, c := range append([]contender{{"openloop", ours.says}}, rivals...) {
		r := &row{contender: c, of: map[string]*tally{}, effects: map[string]effect{}, slips: map[string]string{}, unchanged: map[variation]*tally{}}
		if i == 0 {
			r.job = &ours
		}
		s.rows = append(s.rows, r)
	}
	return s
}

// each does n things, as many at once as there are processors.
func each(n int, do func(i int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// putMutants shows every mutant to every gate, on engines of so many seeds and
// as many baselines.
func (s *score) putMutants(ctx context.Context, list []mutant, seeds int) {
	s.mutants = list
	truths := &truth{base: map[bool]*build{}}
	bases := map[bool][]*build{}
	for i := range seeds {
		for _, shared := range []bool{false, true} {
			bases[shared] = append(bases[shared], newBuild(mutant{}.config(usual.noise(), uint64(100+i)), shared))
		}
	}
	each(len(list), func(i int) {
		m := list[i]
		still := newBuild(m.config(sim.Quiet, 1), m.shared)
		for _, r := range s.rows {
			if r.job != nil {
				e := truths.of(ctx, m, still, *r.job)
				s.locked(func() { r.effects[m.name] = e })
			}
		}
		for seed := range seeds {
			s.put(ctx, m, bases[m.shared][seed], newBuild(m.config(usual.noise(), uint64(100_000+seed)), m.shared))
		}
	})
}

func (s *score) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *score) put(ctx context.Context, m mutant, base, cand *build) {
	for _, r := range s.rows {
		says := r.says(ctx, base, cand)
		s.locked(func() {
			if r.of[m.name] == nil {
				r.of[m.name] = &tally{}
			}
			r.of[m.name].add(says)
			r.all.add(says)
			if s.rows[0].effects[m.name].margins >= owed {
				r.owed.add(says)
			}
			if r.effects[m.name].margins >= owed {
				r.own.add(says)
			}
			if !says.red() {
				r.slips[m.name] = fmt.Sprintf("%s: %s", says.status, says.why)
			}
		})
	}
}

// putUnchanged shows n builds that are as the baseline's to every gate, each
// with a baseline of its own.
func (s *score) putUnchanged(ctx context.Context, v variation, n int) {
	each(n, func(i int) {
		base := newBuild(mutant{}.config(v.noise(), uint64(200_000+2*i)), false)
		cand := newBuild(mutant{}.config(v.noise(), uint64(200_001+2*i)), false)
		for _, r := range s.rows {
			contender := r.contender
			if r.job != nil {
				j := *r.job
				j.goodput = kneeGoodput[v.cv]
				contender.says = j.says
			}
			says := contender.says(ctx, base, cand)
			s.locked(func() {
				if r.unchanged[v] == nil {
					r.unchanged[v] = &tally{}
				}
				r.unchanged[v].add(says)
				if r.job != nil && says.red() {
					s.alarms = append(s.alarms, fmt.Sprintf("false alarm of %s at %v: %s", r.name, v, says.why))
				}
			})
		}
	})
}

func (v variation) String() string {
	text := fmt.Sprintf("%.0f %%", 100*v.cv)
	if v.drift {
		text += ", drift"
	}
	return text
}

// table is the score, a line a gate.
func (s *score) table() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%-30s %12s %12s %10s %8s  false alarms (undecided), engine seconds, by CV of runs\n", "", "caught of", "", "", "engine")
	fmt.Fprintf(b, "%-30s %12s %12s %10s %8s", "gate", "owed", "all", "undecided", "seconds")
	for _, v := range variations {
		fmt.Fprintf(b, " %19s", v)
	}
	b.WriteByte('\n')
	for _, r := range s.rows {
		fmt.Fprintf(b, "%-30s %12s %12s %10d %8.0f", r.name, &r.owed, &r.all, r.all.undecided, r.all.mean())
		for _, v := range variations {
			c := r.unchanged[v]
			fmt.Fprintf(b, " %19s", fmt.Sprintf("%d/%d (%d) %.0f", c.caught, c.n, c.undecided, c.mean()))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// matrix is what became of each mutant: its effect in margins for our job, and
// what each gate catches, in per cent.
func (s *score) matrix() string {
	b := &strings.Builder{}
	for i, r := range s.rows {
		fmt.Fprintf(b, "%d %s\n", i+1, r.name)
	}
	fmt.Fprintf(b, "%-30s %8s %-36s  caught, %%, by 1 to %d\n", "mutant", "margins", "of", len(s.rows))
	for _, m := range s.mutants {
		e := s.rows[0].effects[m.name]
		fmt.Fprintf(b, "%-30s %8.1f %-36s ", m.name, e.margins, e.of)
		for _, r := range s.rows {
			fmt.Fprintf(b, " %3.0f", 100*float64(r.of[m.name].caught)/float64(r.of[m.name].n))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// slipped says what our job missed, and why, and what it alarmed at.
func (s *score) slipped() string {
	b := &strings.Builder{}
	our := s.rows[0]
	for _, name := range slices.Sorted(maps.Keys(our.slips)) {
		fmt.Fprintf(b, "%s: %v caught, else %s\n", name, our.of[name], our.slips[name])
	}
	for _, alarm := range slices.Sorted(slices.Values(s.alarms)) {
		fmt.Fprintln(b, alarm)
	}
	return b.String()
}
