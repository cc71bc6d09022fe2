package sim

// prefix is a node of the prefix tree: a run of blocks that follow one
// another. A key is the chained hash of a block and all before it, so that it
// is the key of one place in the tree only.
type prefix struct {
	parent   *prefix
	keys     []uint64
	children int
	users    int    // running sequences whose prefix goes through here
	used     uint64 // when it was last let go of
	place    int    // in the heap; -1 outside
}

// prefixHeap orders nodes by their last use, the oldest first.
type prefixHeap []*prefix

func (h prefixHeap) less(i, j int) bool { return h[i].used < h[j].used }

func (h prefixHeap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *prefixHeap) push(p *prefix) {
	p.place = len(*h)
	*h = append(*h, p)
	h.up(p.place)
}

// remove takes a node out; one that is not in the heap is left alone.
func (h *prefixHeap) remove(p *prefix) {
	if p.place < 0 {
		return
	}
	i, last := p.place, len(*h)-1
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	p.place = -1
	if i < last {
		h.down(i)
		h.up(i)
	}
}

func (h prefixHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h prefixHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
