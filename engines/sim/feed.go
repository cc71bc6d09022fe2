package sim

import "sync/atomic"

// feed is how a server's scheduler tells a stream what has been made.
type feed struct {
	progress atomic.Int64 // tokens made << 1 | ended
	left     atomic.Bool  // the client has gone
	wake     chan struct{}
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

// set tells the stream; what it reads of the sequence after an end that it
// has seen was written before.
func (f *feed) set(made int, ended bool) {
	v := int64(made) << 1
	if ended {
		v |= 1
	}
	if f.progress.Swap(v) != v {
		f.stir()
	}
}

func (f *feed) stir() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// leave ends the wait of a stream whose client has gone.
func (f *feed) leave() {
	f.left.Store(true)
	f.stir()
}

// get returns the tokens made so far and whether there will be no more.
func (f *feed) get() (made int, ended bool) {
	v := f.progress.Load()
	return int(v >> 1), v&1 == 1
}
