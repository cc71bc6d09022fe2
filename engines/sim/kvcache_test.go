package sim

import (
	"slices"
	"testing"
)

// FuzzPrefixCache compares the tree with a plain set of keys for matching.
func FuzzPrefixCache(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte("prefixes of prefixes of prefixes"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		c := newKVCache(1<<20, false) // so that nothing is evicted
		known := map[uint64]bool{}
		for _, op := range ops {
			// Sequences branch off a common trunk at block op%16.
			var keys []uint64
			for i := range 1 + int(op)/8 {
				h := mix(uint64(i), 1)
				if i >= int(op)%16 {
					h = mix(uint64(i), 2+uint64(op%16))
				}
				keys = append(keys, h)
			}
			want := 0
			for want < len(keys) && known[keys[want]] {
				want++
			}
			leaf, got := c.match(keys)
			if got != want {
				t.Fatalf("%d blocks of %d match, want %d", got, len(keys), want)
			}
			c.pin(leaf)
			c.reserve(len(keys) - got)
			c.unpin(c.insert(leaf, keys[got:]))
			for _, k := range keys {
				known[k] = true
			}
			if c.cached != len(known) || c.idle != c.cached || c.private != 0 {
				t.Fatalf("%d blocks cached (%d idle, %d private), want %d", c.cached, c.idle, c.private, len(known))
			}
		}
	})
}

func TestEvictionTakesTheOldestPrefixFromItsEnd(t *testing.T) {
	c := newKVCache(6, false)
	put := func(keys ...uint64) {
		leaf, n := c.match(keys)
		c.pin(leaf)
		if !c.reserve(len(keys) - n) {
			t.Fatalf("no room for %v", keys)
		}
		c.unpin(c.insert(leaf, keys[n:]))
	}
	cached := func(keys ...uint64) int {
		_, n := c.match(keys)
		return n
	}
	put(1, 2, 3)
	put(11, 12, 13)
	put(1, 2, 3) // used again: now 11… is the oldest
	if !c.reserve(2) {
		t.Fatal("two blocks should be had by eviction")
	}
	if a, b := cached(1, 2, 3), cached(11, 12, 13); a != 3 || b != 1 {
		t.Errorf("after the eviction of two blocks %d and %d are left, want 3 and 1", a, b)
	}
	if c.reserve(5) {
		t.Error("five more blocks were had of four")
	}
	if got := c.available(); got != 4 {
		t.Errorf("a refusal left %d blocks available, want 4", got)
	}
	if keys := slices.Collect(func(yield func(uint64) bool) {
		for _, p := range c.heads {
			for _, k := range p.keys {
				if !yield(k) {
					return
				}
			}
		}
	}); len(keys) != 4 {
		t.Errorf("%d blocks are cached, want 4", len(keys))
	}
}
