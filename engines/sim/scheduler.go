package sim

import (
	"container/heap"
	"slices"
	"time"
)

// scheduler is the engine itself: it knows nothing of clocks, goroutines or
// HTTP. Its owner calls begin with the time that nextStart names, and end when
// the time has come that begin returned.
type scheduler struct {
	cfg   Config
	start uint64 // index of this start of the engine
	upAt  time.Duration

	weather *weather
	slow    float64 // of this start, by a fault
	kv      *kvCache
	shapes  [64][64]bool // that have been compiled

	queue   queue
	running []*sequence // in order of admission
	due     finishHeap  // those of running that decode
	order   uint64
	// contexts is the sum over decoding sequences of the tokens that their
	// next step attends to; grow counts them by the step, modulo the block
	// size, at which they need another block.
	contexts int
	grow     []int
	leaving  int // running and waiting sequences whose client has gone
	refusals int // of flushes, by a fault

	steps int           // completed
	clock time.Duration // the end of the last one
	step  step          // the one under way, if step.end > clock
	ends  ends          // of steps; only where keep is set
	keep  bool

	count counters
	done  func(*sequence) // called for each sequence as it ends
}

// step is what one step does.
type step struct {
	start, end time.Duration
	decodes    int
	prefill    int // tokens
	prefills   int // sequences
	first      []*sequence
	compiled   bool
}

func newScheduler(cfg Config, start uint64, done func(*sequence)) *scheduler {
	s := &scheduler{cfg: cfg, start: start, done: done}
	s.boot()
	return s
}

// boot makes everything that a process has at its start.
func (s *scheduler) boot() {
	s.weather = newWeather(s.cfg.Noise, s.cfg.Seed, s.start)
	s.slow = 1
	if f := s.cfg.Faults; f.SlowStartShare > 0 && unit(mix(s.cfg.Seed, mix(s.start, 3))) < f.SlowStartShare {
		s.slow = f.SlowStartFactor
	}
	s.kv = newKVCache((s.cfg.KVTokens-s.cfg.Faults.LostKVTokens)/s.cfg.BlockTokens, s.cfg.Faults.CacheOff)
	s.grow = make([]int, s.cfg.BlockTokens)
	s.shapes = [64][64]bool{}
	s.count = counters{}
}

// abandon ends all work as a crash does.
func (s *scheduler) abandon() {
	lost := append(slices.Clone(s.running), s.queue.all()...)
	s.running, s.due, s.contexts, s.leaving = s.running[:0], s.due[:0], 0, 0
	clear(s.grow)
	s.queue = queue{}
	s.step = step{end: s.clock, first: s.step.first[:0]}
	for _, q := range lost {
		q.close(s.steps)
		q.state, q.fate, q.last = ended, reset, s.clock
		s.done(q)
	}
}

// restart abandons all work and begins another start of the engine, which
// answers again after down.
func (s *scheduler) restart(down time.Duration) {
	s.abandon()
	s.start++
	s.upAt = s.clock + down
	s.boot()
}

// idle reports that the engine holds no work.
func (s *scheduler) idle() bool { return len(s.running) == 0 && s.queue.len() == 0 }

// flush empties the prefix cache and begins another run of the noise; false
// when it would not: the engine is not idle, or a fault has it refuse.
func (s *scheduler) flush() bool {
	if !s.idle() {
		return false
	}
	if n := s.cfg.Faults.FlushRefusals; n < 0 || s.refusals < n {
		s.refusals++
		return false
	}
	if !s.cfg.Faults.FlushLies {
		s.kv.clear()
	}
	s.weather.redraw()
	return true
}

// nextStart is when the next step can start; false when there is no work. The
// answer changes with every submission while nothing is running.
func (s *scheduler) nextStart() (time.Duration, bool) {
	if len(s.running) > 0 {
		return s.clock, true
	}
	if s.queue.len() == 0 {
		return 0, false
	}
	return max(s.clock, s.queue.front().ready+1), true
}

// begin plans the step that starts now and returns when it ends; false when
// there is nothing to do.
func (s *scheduler) begin(start time.Duration) (time.Duration, bool) {
	if s.leaving > 0 {
		s.dropGone(start)
	}
	preempted := false
	for !s.kv.reserve(s.grow[s.steps%len(s.grow)]) {
		s.preempt(s.running[len(s.running)-1])
		preempted = true
	}
	s.step = step{start: start, decodes: len(s.due), first: s.step.first[:0]}
	budget := s.cfg.MaxBatchedTokens - len(s.due)
	if len(s.running) > len(s.due) {
		for _, q := range s.running {
			if q.state == prefilling && budget > 0 {
				budget -= s.prefill(q, budget)
			}
		}
	}
	if !preempted {
		for budget > 0 && s.admit(start) {
			budget -= s.prefill(s.running[len(s.running)-1], budget)
		}
	}
	if s.step.decodes == 0 && s.step.prefill == 0 {
		s.step.end = s.clock
		return 0, false
	}
	s.step.end = start + max(1, s.duration())
	return s.step.end, true
}

// prefill computes a part of q's prompt in this step, at most budget tokens.
func (s *scheduler) prefill(q *sequence, budget int) int {
	n := min(budget, q.target-q.computed)
	q.computed += n
	s.step.prefill += n
	s.step.prefills++
	if q.computed == q.target {
		s.step.first = append(s.step.first, q)
	}
	return n
}

// end completes the step under way.
func (s *scheduler) end() {
	s.steps++
	s.clock = s.step.end
	if s.keep {
		s.ends.add(s.clock)
	}
	s.contexts += s.step.decodes
	s.count.output += s.step.decodes + len(s.step.first)
	for _, q := range s.step.first {
		if q.before == 0 {
			s.count.prompt += q.prompt
			q.first = s.clock
		}
		s.cache(q, q.computed)
		q.open(s.steps - 1)
		s.contexts += q.prompt + q.before + 1
		s.grow[q.phase]++
		heap.Push(&s.due, q)
	}
	for len(s.due) > 0 && s.due[0].due < s.steps {
		s.finish(s.due[0])
	}
	if f := s.cfg.Faults; f.RestartAfter > 0 && s.start == 0 && s.count.served >= f.RestartAfter {
		s.restart(f.RestartDown)
	}
}

// finish ends a sequence that has made all it wants.
func (s *scheduler) finish(q *sequence) {
	s.leave(q)
	if q.gone > 0 {
		s.leaving-- // its client left in its last step
	}
	q.state, q.last = ended, s.clock
	s.count.served++
	switch {
	case q.fate != finished:
		s.count.errors++
	case q.reason == "length":
		s.count.byLength++
	default:
		s.count.stopped++
	}
	s.done(q)
}

// leave takes a sequence out of the batch. What it computed stays in the
// prefix cache until the room is needed.
func (s *scheduler) leave(q *sequence) {
	held := q.computed
	allocated := q.blocks(q.target)
	if q.state == decoding {
		q.close(s.steps)
		heap.Remove(&s.due, q.place)
		s.contexts -= q.prompt + q.before
		s.grow[q.phase]--
		held = q.prompt + q.before - 1
		allocated = q.blocks(held)
	}
	q.state = waiting
	i := slices.Index(s.running, q)
	s.running = slices.Delete(s.running, i, i+1)
	s.cache(q, held)
	s.kv.release(allocated - q.shared)
	s.kv.unpin(q.leaf)
	q.leaf, q.shared = nil, 0
}
