package process

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"time"
)

// signalGrace is the time that servers get on a signal: less than the ten
// seconds after which CI systems follow TERM by KILL.
const signalGrace = 5 * time.Second

// live holds the servers of this process and what exists only while there are
// any: the thread that spawns children and the signal handler. A test binary
// that starts none keeps its signals, threads and goroutines as they are.
var live struct {
	sync.Mutex
	servers map[*Process]bool
	spawner spawner
	handler *signalHandler
	// ending is the signal that has come; nil is none.
	ending os.Signal
}

// enlist counts a server among the living before it is started, so that a
// signal finds it whatever the launcher is doing.
func enlist(p *Process) {
	live.Lock()
	defer live.Unlock()
	if len(live.servers) == 0 {
		live.servers = map[*Process]bool{}
		live.spawner = newSpawner()
		live.handler = newSignalHandler()
		live.ending = nil
	}
	live.servers[p] = true
}

// dismiss takes a server that has ended off the list.
func dismiss(p *Process) {
	live.Lock()
	defer live.Unlock()
	delete(live.servers, p)
	if len(live.servers) == 0 {
		live.spawner.end()
		live.handler.end()
	}
}

// spawn starts a child on the thread for that. Its server is enlisted.
func spawn(cmd *exec.Cmd) error {
	live.Lock()
	s := live.spawner
	live.Unlock()
	return s.start(cmd)
}

// StopAll stops every server of this process, all at once, and returns when
// they are gone. Their grace ends with ctx.
func StopAll(ctx context.Context) {
	live.Lock()
	servers := make([]*Process, 0, len(live.servers))
	for p := range live.servers {
		servers = append(servers, p)
	}
	live.Unlock()
	var all sync.WaitGroup
	for _, p := range servers {
		all.Go(func() { _ = p.Stop(ctx) })
	}
	all.Wait()
}

// signalHandler stops all servers when this process is told to end, and then
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
		case first = <-h.received: // came as the last server went
			raise(first)
		default:
		}
		return
	}
	live.Lock()
	live.ending = first
	live.Unlock()
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

// raiseGrace is how long a signal that is raised again has to end the process.
const raiseGrace = 10 * time.Second

// calledOff returns the signal that is to end this process, if one has come,
// when it has had the time to: a server that does not come up meanwhile was
// stopped, and to blame it would hide why.
func calledOff() os.Signal {
	live.Lock()
	sig := live.ending
	live.Unlock()
	if sig != nil {
		time.Sleep(raiseGrace)
	}
	return sig
}

// heeded are those of the signals that were not ignored when the process
// began, as SIGHUP is under nohup: catching them would heed them after all.
func heeded(signals ...os.Signal) []os.Signal {
	return slices.DeleteFunc(signals, signal.Ignored)
}
