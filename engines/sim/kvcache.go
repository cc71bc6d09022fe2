package sim

// kvCache accounts for the blocks of KV memory: those that running sequences
// hold for themselves, and those in the prefix tree, which anyone may use.
// Blocks in the tree that nobody uses stay until room is needed, and then go
// in the order of their last use, a prompt's last block first.
type kvCache struct {
	capacity int
	private  int // blocks of running sequences outside the tree
	cached   int // blocks in the tree
	idle     int // the part of cached that no running sequence uses
	off      bool

	heads map[uint64]*prefix // by their first key
	queue prefixHeap         // idle leaves
	tick  uint64
	spare []*prefix
}

func newKVCache(capacity int, off bool) *kvCache {
	return &kvCache{capacity: capacity, off: off, heads: make(map[uint64]*prefix)}
}

// free is the number of blocks that nobody uses and nothing is cached in.
func (c *kvCache) free() int { return c.capacity - c.private - c.cached }

// available is the number of blocks that reserve can get.
func (c *kvCache) available() int { return c.capacity - c.private - c.cached + c.idle }

// reserve takes n blocks for a sequence's own use, evicting what it must, or
// none when there are too few.
func (c *kvCache) reserve(n int) bool {
	if n > c.available() {
		return false
	}
	for c.free() < n {
		c.evict(n - c.free())
	}
	c.private += n
	return true
}

// release gives n blocks back.
func (c *kvCache) release(n int) { c.private -= n }

// evict drops at most n blocks of the leaf that was used longest ago.
func (c *kvCache) evict(n int) {
	p := c.queue[0]
	if n < len(p.keys) {
		p.keys = p.keys[:len(p.keys)-n]
		c.cached -= n
		c.idle -= n
		return
	}
	c.queue.remove(p)
	c.cached -= len(p.keys)
	c.idle -= len(p.keys)
	delete(c.heads, p.keys[0])
	if up := p.parent; up != nil {
		if up.children--; up.children == 0 && up.users == 0 {
			c.queue.push(up)
		}
	}
	c.spare = append(c.spare, p)
}

// match finds the longest cached prefix of keys: the node that it ends at, nil
// for none, and its length in blocks.
func (c *kvCache) match(keys []uint64) (*prefix, int) {
	if c.off {
		return nil, 0
	}
	return c.walk(nil, keys)
}

// walk follows keys below the node at as far as they are cached, and splits
// the node in which they end.
func (c *kvCache) walk(at *prefix, keys []uint64) (*prefix, int) {
	n := 0
	for n < len(keys) {
		p := c.heads[keys[n]]
		if p == nil {
			break
		}
		same := 1
		for same < len(p.keys) && n+same < len(keys) && p.keys[same] == keys[n+same] {
			same++
		}
		if same < len(p.keys) {
			p = c.split(p, same)
			return p, n + same
		}
		at, n = p, n+same
	}
	return at, n
}

// split puts the first n blocks of a node into a parent of their own, which
// it returns.
func (c *kvCache) split(p *prefix, n int) *prefix {
	up := c.node()
	up.keys = append(up.keys, p.keys[:n]...)
	up.parent, up.children, up.users, up.used = p.parent, 1, p.users, p.used
	p.keys = append(p.keys[:0], p.keys[n:]...)
	p.parent = up
	c.heads[up.keys[0]] = up
	c.heads[p.keys[0]] = p
	return up
}

// pin keeps a node and all before it from eviction.
func (c *kvCache) pin(p *prefix) {
	for ; p != nil; p = p.parent {
		if p.users++; p.users == 1 {
			c.idle -= len(p.keys)
			c.queue.remove(p)
		}
	}
}

// unpin is pin's inverse, and the nodes' last use.
func (c *kvCache) unpin(p *prefix) {
	c.tick++
	for ; p != nil; p = p.parent {
		p.used = c.tick
		if p.users--; p.users == 0 {
			c.idle += len(p.keys)
			if p.children == 0 {
				c.queue.push(p)
			}
		}
	}
}

// insert moves blocks of a sequence that has pinned the node at, and computed
// the blocks with these keys behind it, into the tree. It returns the node
// that they end at, pinned in at's place. The sequence gives up its own copy
// of all of them: what was cached already is there twice no longer.
func (c *kvCache) insert(at *prefix, keys []uint64) *prefix {
	if len(keys) == 0 || c.off {
		return at
	}
	c.private -= len(keys)
	end, n := c.walk(at, keys)
	switch rest := keys[n:]; {
	case len(rest) == 0:
	case end != nil && end == at && end.users == 1 && end.children == 0:
		end.keys = append(end.keys, rest...)
		c.cached += len(rest)
		return end
	default:
		p := c.node()
		p.keys = append(p.keys, rest...)
		p.parent = end
		if end != nil {
			if end.children++; end.children == 1 {
				c.queue.remove(end)
			}
		}
		c.heads[rest[0]] = p
		c.cached += len(rest)
		c.idle += len(rest)
		end = p
	}
	c.pin(end)
	for ; at != nil; at = at.parent {
		at.users-- // end's own path goes through it
	}
	return end
}

// clear empties the tree. No sequence may be using it.
func (c *kvCache) clear() {
	clear(c.heads)
	c.queue = c.queue[:0]
	c.cached, c.idle, c.spare = 0, 0, nil
}

func (c *kvCache) node() *prefix {
	if n := len(c.spare); n > 0 {
		p := c.spare[n-1]
		c.spare = c.spare[:n-1]
		*p = prefix{keys: p.keys[:0], place: -1}
		return p
	}
	return &prefix{place: -1}
}
