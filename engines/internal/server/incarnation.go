package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/process"
	"github.com/openloop-go/openloop/engines/openai"
)

// incarnation is one start of a server.
type incarnation struct {
	client  *openai.Engine
	process *process.Process // nil when attached
	number  int64
	// suspect: a request failed as those do whose server has died.
	suspect atomic.Bool
}

// blame adds to a request's failure how the server has ended, where it has and
// that explains the failure.
func (i *incarnation) blame(err error) error {
	e := (*engines.Error)(nil)
	if i.process == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Class {
	case engines.Unreachable, engines.Reset, engines.Stale, engines.Truncated:
	default:
		return err
	}
	i.suspect.Store(true)
	how := i.process.Obituary()
	if how == "" {
		return err
	}
	told := *e
	told.Message += "; " + how
	return &told
}

// suspicion is how long a server that is suspected to have died may take to be
// known to.
const suspicion = time.Second

// death is how the server has ended by itself; nil where it has not.
func (i *incarnation) death(ctx context.Context) error {
	if i.suspect.Load() {
		i.process.AwaitEnd(ctx, suspicion)
	}
	return i.process.Dying(ctx)
}

// Death is how the server has ended by itself, with its log's last lines; nil
// while it runs, of one that was stopped, and of one that was attached to. A
// server that has announced its end and runs on is not dead.
func (s *Server) Death(ctx context.Context) error {
	i := s.now.Load()
	if i.process == nil {
		return nil
	}
	if i.suspect.Load() {
		i.process.AwaitEnd(ctx, suspicion)
	}
	if err := i.process.Err(ctx); err != nil {
		return s.kind.advise(s.config, &diagnosis{}, err)
	}
	return nil
}
