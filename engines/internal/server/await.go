package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

const (
	// patience is how long a server that is attached to may take to answer before
	// the test is told what is waited for.
	patience = time.Second
	// remind is the pause between two lines to the log.
	remind = 30 * time.Second
)

// awaiting is the wait for a server that somebody else has started.
type awaiting struct {
	kind   *Kind
	config Config
	// at is the server's URL without user information, and where it was found.
	at     string
	budget time.Duration
	log    func(format string, args ...any)
	helper func()
	// reminded is when the log was told last; zero is never.
	reminded time.Time
	// asked is what the server has last been asked for, and since when.
	asked string
	since time.Time
}

// answer is what ready returned.
type answer struct {
	client *openai.Engine
	err    error
}

// awaitReady is ready for a server that somebody else has started: one that
// says it is loading is waited for, within the start budget, as is one that does
// not end its answer; one that cannot be reached is not. The log is told what is
// waited for.
func (k *Kind) awaitReady(ctx context.Context, c Config, root string) (*openai.Engine, error) {
	helper := c.marks()
	helper()
	unnamed, err := k.client(c, root, "")
	if err != nil {
		return nil, err
	}
	w := &awaiting{kind: k, config: c, at: fmt.Sprintf("%s (%s)", unnamed.URL(), c.from), budget: c.StartBudget, helper: helper, log: k.teller(c.log, helper)}
	_ = unnamed.Close()
	if w.budget == 0 {
		w.budget = defaultBudget
	}
	bounded, cancel := context.WithTimeout(ctx, w.budget)
	defer cancel()
	var said error // the last that it did answer
	for {
		got := w.ask(bounded, root)
		if got.err == nil {
			return got.client, nil
		}
		if bounded.Err() != nil && ctx.Err() == nil {
			if said != nil && time.Since(w.since) < patience { // it had no time to answer again
				return nil, w.loading(said)
			}
			return nil, w.unanswered(got.err)
		}
		if e := (*engines.Error)(nil); isLasting(got.err) || !errors.As(got.err, &e) || e.Class != engines.Refused {
			return nil, got.err
		}
		said = got.err
		w.tell(said.Error())
		pause := time.NewTimer(time.Second)
		select {
		case <-bounded.Done():
			pause.Stop()
			if ctx.Err() != nil {
				return nil, fmt.Errorf("stopped waiting: %w (%w)", context.Cause(ctx), said)
			}
			return nil, w.loading(said)
		case <-pause.C:
		}
	}
}

// ask asks once, and tells the log where the answer takes long.
func (w *awaiting) ask(ctx context.Context, root string) answer {
	w.helper()
	asks, answers := make(chan string), make(chan answer, 1)
	go func() {
		client, err := w.kind.ready(ctx, w.config, root, func(what string) { asks <- what })
		answers <- answer{client, err}
	}()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		select {
		case w.asked = <-asks:
			w.since = time.Now()
			slow.Reset(patience)
		case got := <-answers:
			return got
		case <-slow.C:
			w.tell(fmt.Sprintf("it has not %s for %v", w.asked, time.Since(w.since).Round(time.Second)))
			slow.Reset(remind)
		}
	}
}

// tell tells the log why this waits, now and again.
func (w *awaiting) tell(why string) {
	w.helper()
	if w.reminded.IsZero() || time.Since(w.reminded) >= remind {
		w.reminded = time.Now()
		w.log("waiting for %s: %s; at most %v in all", w.at, why, w.budget)
	}
}

// loading is the error of a server that answered that it is not ready, to the end.
func (w *awaiting) loading(said error) error {
	return fmt.Errorf("not ready after %v: %w; %s if it only needs longer", w.budget, said, w.config.longer)
}

// unanswered is the error of a server that took the whole budget over an answer.
func (w *awaiting) unanswered(err error) error {
	return fmt.Errorf("not ready after %v: %s has not %s, asked %v before: it hangs, or something between here and there does: look into its log, or start it again; %s if it only needs longer (%w)",
		w.budget, w.at, w.asked, time.Since(w.since).Round(time.Millisecond), w.config.longer, err)
}
