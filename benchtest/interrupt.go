package benchtest

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// A signal's machinery is started here, because it must not be started from
// within a synctest bubble. Nothing is caught yet.
func init() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, endings...)
	signal.Stop(c)
}

// endings are the signals that end a process in good order, but for those that
// were ignored when it began, as SIGHUP is under nohup: catching them would heed
// them after all.
var endings = slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)

// interruption is the cause of a context that a signal has ended.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return "interrupted by signal: " + i.signal.String() }

// raiseGrace is how long a signal that was raised again has to end the process
// before the test goes on to fail.
const raiseGrace = 10 * time.Second

// interruptible is ctx that a signal ends as well, so that the requests in
// flight are called off and the runs that are finished stay. The function that
// it returns gives the signals back and, if one had come, raises it again:
// this process then ends as it would have, after whoever started the engine
// has stopped it.
//
// In virtual time nothing is caught: there is nothing to tear down, and
// finished runs are on disk.
func (s *session) interruptible(ctx context.Context) (_ context.Context, restore func()) {
	if s.virtual {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	received, quit, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(received, endings...)
	var caught os.Signal
	go func() {
		defer close(done)
		select {
		case caught = <-received:
			cancel(interruption{caught})
		case <-quit:
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(quit)
		<-done
		cancel(nil)
		if caught != nil {
			where := "nowhere: no folder was given"
			if s.store != nil {
				where = s.store.path
			}
			fmt.Fprintf(os.Stderr, "benchtest: %v: the load was called off; finished runs: %d, kept in %s\n", interruption{caught}, len(s.runs.Records), where)
			raise(caught)
			// A signal to oneself arrives a little later, and those who
			// started the engine may hold it until they have stopped it.
			time.Sleep(raiseGrace)
		}
	}
}
