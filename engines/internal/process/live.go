package process

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"time"
)

// signalGrace is the time that children get on a signal: less than the ten
// seconds after which CI systems follow TERM by KILL.
const signalGrace = 5 * time.Second

// live holds the children and what exists only while there are any: the
// spawning thread and the signal handler. A test binary that starts none
// keeps its signals, threads and goroutines as they are.
var live struct {
	sync.Mutex
	children map[*Process]bool
	spawner  spawner
	handler  *signalHandler
}

// enlist starts the child and counts it among the living, as one step: a
// signal comes before both or after both.
func enlist(p *Process) error {
	live.Lock()
	defer live.Unlock()
	if len(live.children) == 0 {
		live.children = map[*Process]bool{}
		live.spawner = newSpawner()
		live.handler = newSignalHandler()
	}
	live.children[p] = true
	if err := live.spawner.start(p.cmd); err != nil {
		dismissLocked(p)
		return err
	}
	return nil
}

// dismiss takes a child that has been reaped off the list.
func dismiss(p *Process) {
	live.Lock()
	defer live.Unlock()
	dismissLocked(p)
}

func dismissLocked(p *Process) {
	delete(live.children, p)
	if len(live.children) == 0 {
		live.spawner.end()
		live.handler.end()
	}
}

// StopAll stops every child of this process, all at once, and returns when
// they are gone. Their grace ends with ctx.
func StopAll(ctx context.Context) {
	live.Lock()
	children := make([]*Process, 0, len(live.children))
	for p := range live.children {
		children = append(children, p)
	}
	live.Unlock()
	var all sync.WaitGroup
	for _, p := range children {
		all.Go(func() { _ = p.Stop(ctx) })
	}
	all.Wait()
}

// signalHandler stops all children when this process is told to end, and then
// lets the signal do what it would have done: it takes its own channel out of
// the way and raises the signal again. Another handler of the same kind, such
// as one that ends a measurement in good order, does likewise, and the last
// of them to finish ends the process by the signal's default. What is raised
// in the meantime is kept waiting: the grace is short enough.
type signalHandler struct {
	received chan os.Signal
	ended    chan struct{}
}

func newSignalHandler() *signalHandler {
	h := &signalHandler{make(chan os.Signal, 1), make(chan struct{})}
	signal.Notify(h.received, endings...)
	go h.run()
	return h
}

func (h *signalHandler) run() {
	var first os.Signal
	select {
	case first = <-h.received:
	case <-h.ended:
		select {
		case first = <-h.received: // came as the last child went
			raise(first)
		default:
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), signalGrace)
	defer cancel()
	StopAll(ctx)
	signal.Stop(h.received)
	raise(first)
}

// end stops listening; a signal that has come is still raised again.
func (h *signalHandler) end() {
	signal.Stop(h.received)
	close(h.ended)
}
