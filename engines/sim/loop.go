package sim

import "time"

// patience is how far behind its schedule the engine's clock may fall, on a
// host that is too slow or was asleep, before it gives up catching up.
const patience = 250 * time.Millisecond

// loop is the engine's own goroutine: it takes steps at the times that the
// scheduler names. Times are absolute, so that a late wake-up delays the
// tokens of one step and not the steps after it.
func (s *Server) loop() {
	defer close(s.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		s.mu.Lock()
		start, work := s.sched.nextStart()
		idle := len(s.sched.running) == 0
		s.mu.Unlock()
		if !work {
			select {
			case <-s.wake:
				continue
			case <-s.quit:
				return
			}
		}
		if idle {
			timer.Reset(start - s.now())
			select {
			case <-timer.C:
			case <-s.wake: // perhaps something that may start earlier
				continue
			case <-s.quit:
				return
			}
		}
		s.mu.Lock()
		start, work = s.sched.nextStart()
		var end time.Duration
		if work {
			end, work = s.sched.begin(max(start, s.now()-patience))
		}
		starts := s.starts
		if work && s.sched.step.compiled {
			s.logCompile(s.sched.shape())
		}
		s.mu.Unlock()
		if !work {
			continue
		}
		timer.Reset(end - s.now())
		select {
		case <-timer.C:
		case <-s.quit:
			return
		}
		s.mu.Lock()
		if s.starts == starts { // else a restart took the step away
			s.complete()
		}
		s.mu.Unlock()
	}
}

// complete ends the step under way and tells the streams.
func (s *Server) complete() {
	took, decodes := s.sched.step.end-s.sched.step.start, s.sched.step.decodes
	before := s.sched.start
	s.sched.end()
	s.shown.running, s.shown.waiting = len(s.sched.running), s.sched.queue.len()
	if s.sched.start != before {
		s.begun()
		return
	}
	s.stats.itl.observe(took.Seconds(), decodes)
	for _, q := range s.sched.running {
		if q.state == decoding {
			q.feed.set(q.made(s.sched.steps), false)
		}
	}
}

// ended is called by the scheduler, which is locked.
func (s *Server) ended(q *sequence) {
	s.stats.finished(q)
	q.feed.set(q.before, true)
}

// submit hands a sequence to the scheduler.
func (s *Server) submit(q *sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.arrival = s.now()
	s.sched.submit(q)
	if q.state == ended {
		q.feed.set(0, true)
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// cancel tells the scheduler that a sequence's client has gone.
func (s *Server) cancel(q *sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sched.cancel(q, s.now())
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
