package sim

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// reserved is the share of KV blocks that an admission leaves for the growth
// of those already running, as vLLM's watermark does.
const reserved = 0.01

// submit takes in a sequence at its arrival. A sequence that is turned away
// has ended when submit returns, and done is not called for it.
func (s *scheduler) submit(q *sequence) {
	f := &s.cfg.Faults
	roll := func(kind uint64) float64 {
		return unit(mix(mix(s.cfg.Seed, s.start), mix(hashString(q.id), kind)))
	}
	q.ready, q.target = q.arrival, q.prompt
	// No share strikes before one request has been served, so that an engine
	// can be seen to be ready.
	u := 1.0
	if s.count.served > 0 && f.RefuseShare+f.ErrorShare+f.StreamErrorShare+f.CutShare+f.ResetShare > 0 {
		u = roll(1)
	}
	below := func(share float64) bool {
		u -= share
		return u < 0
	}
	switch {
	case q.arrival < s.upAt:
		s.turnAway(q, refused, 503)
		return
	case below(f.RefuseShare), f.RefuseAbove > 0 && s.queue.len() >= f.RefuseAbove:
		status := f.RefuseStatus
		if status == 0 {
			status = 429
		}
		s.turnAway(q, refused, status)
		return
	case below(f.ErrorShare):
		s.turnAway(q, failed, 500)
		return
	case below(f.StreamErrorShare):
		q.fate = streamError
	case below(f.CutShare):
		q.fate = cut
	case below(f.ResetShare):
		q.fate = reset
	}
	if q.fate != finished {
		q.want = max(1, q.want/2)
	}
	if f.TailShare > 0 && roll(2) < f.TailShare {
		q.ready += f.TailDelay
	}
	s.queue.add(q)
}

func (s *scheduler) turnAway(q *sequence, why fate, status int) {
	q.state, q.fate, q.status, q.last = ended, why, status, q.arrival
}

// admit gives the first waiting sequence a slot and its blocks, if it arrived
// before the step and there are both.
func (s *scheduler) admit(start time.Duration) bool {
	if len(s.running) >= s.cfg.MaxNumSeqs-s.cfg.Faults.LostSlots || s.queue.len() == 0 {
		return false
	}
	q := s.queue.front()
	if q.ready >= start {
		return false
	}
	// One token at least is computed, even of a prompt that is cached whole.
	leaf, hit := s.kv.match(q.keys[:min(len(q.keys), (q.target-1)/q.size)])
	s.kv.pin(leaf)
	need, spare := q.blocks(q.target)-hit, 0
	if len(s.running) > 0 {
		spare = int(reserved * float64(s.kv.capacity))
	}
	if need+spare > s.kv.available() || !s.kv.reserve(need) {
		s.kv.unpin(leaf)
		return false
	}
	s.queue.pop()
	s.order++
	q.leaf, q.shared, q.order = leaf, hit, s.order
	q.computed = hit * q.size
	q.state = prefilling
	if !q.admitted {
		q.admitted, q.admit, q.hit = true, start, q.computed
		s.count.queries += q.prompt
		s.count.hits += q.hit
	}
	s.running = append(s.running, q)
	return true
}

// preempt puts the sequence back to the head of the queue; it will compute
// its prompt and what it has made so far anew.
func (s *scheduler) preempt(q *sequence) {
	s.leave(q)
	s.count.preemptions++
	q.target, q.computed = q.prompt+q.before, 0
	s.queue.putBack(q)
}

// cache moves the whole blocks of a sequence's first tokens into the prefix
// cache.
func (s *scheduler) cache(q *sequence, tokens int) {
	if s.kv.off {
		return
	}
	q.extendKeys(tokens)
	full := tokens / q.size
	q.leaf = s.kv.insert(q.leaf, q.keys[q.shared:full])
	q.shared = full
}

// dropGone ends the sequences whose client went away before now.
func (s *scheduler) dropGone(now time.Duration) {
	gone := func(q *sequence) bool { return q.gone > 0 && q.gone < now }
	drop := func(q *sequence) {
		q.state, q.fate, q.last = ended, canceled, q.gone
		s.leaving--
		s.count.aborted++
		s.done(q)
	}
	for i := len(s.running) - 1; i >= 0; i-- {
		if q := s.running[i]; gone(q) {
			s.leave(q)
			drop(q)
		}
	}
	for _, q := range s.queue.remove(gone) {
		drop(q)
	}
}

// cancel notes that a sequence's client has gone; the next step that starts
// later lets the sequence go.
func (s *scheduler) cancel(q *sequence, now time.Duration) {
	if q.state != ended && q.gone == 0 {
		q.gone = max(1, now)
		s.leaving++
	}
}

// duration is the time that the planned step takes.
func (s *scheduler) duration() time.Duration {
	cfg, f, p := &s.cfg, &s.cfg.Faults, s.cfg.Profile
	decode, prefill := p.decode(s.step.decodes, s.contexts), p.prefill(s.step.prefill)
	overhead := 0.0
	if batch := s.step.decodes + s.step.prefills; batch >= cfg.SlowFromBatch && (cfg.SlowToBatch == 0 || batch <= cfg.SlowToBatch) {
		decode *= cfg.DecodeSlowdown
		prefill *= cfg.PrefillSlowdown
		overhead = cfg.StepOverhead.Seconds()
	}
	factor := s.weather.at(s.step.start) * s.slow * (1 + f.Leak*float64(s.count.served))
	d := time.Duration(math.Round((decode + prefill + overhead) * factor * 1e9))
	if f.StallEvery > 0 {
		if t := s.weather.since(s.step.start); t/f.StallEvery != (t+d)/f.StallEvery {
			d += f.StallFor
		}
	}
	if cfg.CompileCost > 0 {
		d += s.compile()
	}
	return d
}

// compile is the cost of the planned step's shape, if it has not been met.
func (s *scheduler) compile() time.Duration {
	up := func(n int) int { return bits.Len(uint(max(0, n-1))) }
	met := &s.shapes[up(s.step.decodes)][up(s.step.prefill)]
	if *met {
		return 0
	}
	*met = true
	s.count.compiles++
	s.step.compiled = true
	return s.cfg.CompileCost
}

// shape names the planned step's shape, as a kernel's name would.
func (s *scheduler) shape() string {
	return fmt.Sprintf("step_d%d_p%d", s.step.decodes, s.step.prefill)
}
