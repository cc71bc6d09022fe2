package sim

import (
	"fmt"
	"slices"
	"testing"
)

// check recomputes from the sequences and the tree what the scheduler keeps
// as running sums.
func (s *scheduler) check() error {
	kv := s.kv
	if kv.private < 0 || kv.idle < 0 || kv.idle > kv.cached || kv.private+kv.cached > kv.capacity {
		return fmt.Errorf("KV: %d blocks private, %d cached of which %d idle, of %d", kv.private, kv.cached, kv.idle, kv.capacity)
	}
	if len(s.running) > s.cfg.MaxNumSeqs-s.cfg.Faults.LostSlots {
		return fmt.Errorf("%d sequences running, slots are %d", len(s.running), s.cfg.MaxNumSeqs-s.cfg.Faults.LostSlots)
	}
	private, contexts, decodes := 0, 0, 0
	grow := make([]int, s.cfg.BlockTokens)
	users := map[*prefix]int{}
	for _, q := range s.running {
		held := q.blocks(q.target)
		if q.state == decoding {
			made := q.made(s.steps)
			if made < 1 || made >= q.want {
				return fmt.Errorf("%s runs with %d of %d tokens made", q.id, made, q.want)
			}
			held = q.blocks(q.prompt + made - 1)
			contexts += q.prompt + made
			grow[q.phase]++
			decodes++
		}
		private += held - q.shared
		for p := q.leaf; p != nil; p = p.parent {
			users[p]++
		}
	}
	if private != kv.private || contexts != s.contexts || !slices.Equal(grow, s.grow) || decodes != len(s.due) {
		return fmt.Errorf("private %d, kept %d; contexts %d, kept %d; grow %v, kept %v; decodes %d, kept %d",
			private, kv.private, contexts, s.contexts, grow, s.grow, decodes, len(s.due))
	}
	cached, idle := 0, 0
	children := map[*prefix]int{}
	for head, p := range kv.heads {
		if len(p.keys) == 0 || p.keys[0] != head {
			return fmt.Errorf("a node of %d blocks is under a key that is not its first", len(p.keys))
		}
		if p.users != users[p] {
			return fmt.Errorf("a node has %d users, kept %d", users[p], p.users)
		}
		cached += len(p.keys)
		if p.users == 0 {
			idle += len(p.keys)
		}
		if p.parent != nil {
			children[p.parent]++
			if kv.heads[p.parent.keys[0]] != p.parent {
				return fmt.Errorf("a node's parent is not in the tree")
			}
		}
		if evictable := p.users == 0 && p.children == 0; evictable != (p.place >= 0) || evictable && kv.queue[p.place] != p {
			return fmt.Errorf("a node with %d users and %d children has place %d in the queue for eviction", p.users, p.children, p.place)
		}
	}
	for _, p := range kv.heads {
		if p.children != children[p] {
			return fmt.Errorf("a node has %d children, kept %d", children[p], p.children)
		}
	}
	if cached != kv.cached || idle != kv.idle {
		return fmt.Errorf("cached %d, kept %d; idle %d, kept %d", cached, kv.cached, idle, kv.idle)
	}
	return nil
}

// FuzzScheduler states what holds of any load on any engine: every sequence
// ends once, with the tokens it asked for; the KV cache never holds more than
// it can; a prompt that is cached is what was computed before; and nothing is
// left over when all has ended.
func FuzzScheduler(f *testing.F) {
	f.Add([]byte{0}, uint8(4), uint8(20), uint8(64))
	f.Add([]byte{1, 40, 2, 41, 3, 42, 4, 250, 251, 252, 5, 6, 7, 255, 8, 9, 10, 11, 12}, uint8(3), uint8(9), uint8(16))
	f.Add([]byte("a load of many sequences that share prefixes and preempt one another, again and again"), uint8(8), uint8(12), uint8(30))
	f.Add([]byte("\x00\x10\x20\x30\x40\x50\x60\x70\x80\x90\xa0\xb0\xc0\xd0\xe0\xf0\x00\x10\x20\x30\x40\x50\x60"), uint8(16), uint8(6), uint8(200))
	f.Fuzz(func(t *testing.T, ops []byte, slots, capacity, budget uint8) {
		if len(ops) > 400 {
			return
		}
		block := []int{16, 1, 5}[(len(ops)+int(slots))%3]
		cfg, err := Config{
			MaxNumSeqs: 1 + int(slots)%16, BlockTokens: block, KVTokens: block * (1 + int(capacity)%64*16/block), Noise: Quiet,
			MaxBatchedTokens: 17 + int(budget), Seed: uint64(len(ops)),
		}.resolve()
		if err != nil {
			t.Skip()
		}
		asked := map[*sequence]int{}
		endings := map[*sequence]int{}
		s := newScheduler(cfg, 0, nil)
		s.keep = true
		s.done = func(q *sequence) {
			endings[q]++
			n := 0
			for _, seg := range q.segments {
				n += len(s.ends.of(seg.from, seg.n))
			}
			if n != q.before {
				t.Errorf("%s made %d tokens in %d steps", q.id, q.before, n)
			}
			if q.fate == finished && n != asked[q] {
				t.Errorf("%s made %d tokens, asked for %d", q.id, n, asked[q])
			}
		}
		step := func() bool {
			start, ok := s.nextStart()
			if !ok {
				return false
			}
			if _, ok := s.begin(start); ok {
				s.end()
			} else {
				s.clock = max(s.clock, start)
			}
			if err := s.check(); err != nil {
				t.Fatalf("after step %d: %v", s.steps, err)
			}
			return true
		}
		var all []*sequence
		for i, op := range ops {
			switch {
			case op >= 250 && len(all) > 0:
				s.cancel(all[int(op)%len(all)], s.clock)
			case op >= 240:
				if idle := s.idle(); s.flush() != idle {
					t.Fatalf("flush with idle = %v", idle)
				}
			case op >= 160:
				for range op % 16 {
					step()
				}
			default:
				// A prompt is a prefix of one of four texts, so that many share one.
				q := &sequence{id: fmt.Sprint(i), arrival: s.clock + 1}
				n := 1 + int(op)*7%max(1, cfg.MaxModelLen/2)
				tokens := make([]int32, n)
				for k := range tokens {
					tokens[k] = int32(op%4)*1000 + int32(k)
				}
				q.setPrompt(tokens, "", cfg.BlockTokens)
				want := 1 + int(op)*3%max(1, cfg.MaxModelLen-n)
				asked[q] = want
				q.setLength(want, want, true, 0)
				all = append(all, q)
				s.submit(q)
			}
		}
		for guard := 0; step(); guard++ {
			if guard > 200_000 {
				t.Fatalf("no end: %d running, %d waiting", len(s.running), s.queue.len())
			}
		}
		for _, q := range all {
			if endings[q] != 1 {
				t.Errorf("%s ended %d times", q.id, endings[q])
			}
		}
		if s.kv.private != 0 || s.kv.idle != s.kv.cached || s.contexts != 0 || s.leaving != 0 {
			t.Errorf("left over: %d private blocks, %d of %d cached in use, contexts %d, leaving %d",
				s.kv.private, s.kv.cached-s.kv.idle, s.kv.cached, s.contexts, s.leaving)
		}
	})
}
