package enginetest

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// devices: those of an engine that tells of some have names, each its own, and
// readings that are known or left out.
func (s *suite) devices() {
	sampler, ok := s.engine.(engines.Sampler)
	if !ok {
		return
	}
	devices, err := sampler.Sample(s.ctx)
	if err != nil {
		s.wrong("devices", "%v", err)
		return
	}
	seen := map[string]bool{}
	for i, d := range devices {
		if d.ID == "" || seen[d.ID] {
			s.wrong("devices", "device %d of %d is called %q: each must have a name of its own", i+1, len(devices), d.ID)
		}
		seen[d.ID] = true
		s.count("devices: ClockMHz", d.ClockMHz)
		s.count("devices: MemoryClockMHz", d.MemoryClockMHz)
		s.count("devices: Celsius", d.Celsius)
		s.count("devices: Watts", d.Watts)
		if !d.Throttles.Known && len(d.Throttles.Reasons) > 0 {
			s.wrong("devices", "%s is throttled by %v, which is not known", d.ID, d.Throttles.Reasons)
		}
	}
}

// hold: an engine can be held, by one who holds it already as well, and given
// back; and who waits for it ends with its context.
func (s *suite) hold() {
	h, ok := s.engine.(engines.Holder)
	if !ok {
		return
	}
	for range 2 { // the second time it has been given back
		release, err := h.Hold(s.ctx, "enginetest", nil)
		if err != nil {
			s.wrong("hold", "%v", err)
			return
		}
		again, err := h.Hold(s.ctx, "enginetest", nil)
		if err != nil {
			s.wrong("hold", "who holds it cannot hold it again: %v", err)
			again = func() error { return nil }
		}
		for _, give := range []func() error{again, release} {
			if err := give(); err != nil {
				s.wrong("hold", "it cannot be given back: %v", err)
			}
		}
	}
	if s.ctx.Err() != nil {
		return
	}
	release, err := h.Hold(s.ctx, "enginetest", nil)
	if err != nil {
		s.wrong("hold", "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, time.Second/10)
	defer cancel()
	// Whether another of this process is kept waiting is the engine's business.
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		if other, err := h.Hold(ctx, "enginetest-other", nil); err == nil {
			_ = other()
		}
	}()
	select {
	case <-returned:
	case <-time.After(s.o.Patience):
		s.wrong("hold", "who waits for it had not returned %v after its context ended", s.o.Patience)
	}
	if err := release(); err != nil {
		s.wrong("hold", "it cannot be given back: %v", err)
	}
}
