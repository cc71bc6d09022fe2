package openai

import (
	"context"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/internal/lock"
)

// Hold implements engines.Holder: it waits until nobody else of this host
// measures the server at the URL, in this process or another. One that is
// reached by Config.Dial is in this process, with an engine of its own.
func (e *Engine) Hold(ctx context.Context, who string, log func(format string, args ...any)) (release func() error, err error) {
	if e.cfg.Dial != nil {
		return func() error { return nil }, nil
	}
	env, err := ci.Load()
	if err != nil {
		return nil, err
	}
	l, err := lock.Acquire(ctx, lock.Request{Resources: []string{lock.URL(e.root)}, Owner: who, Alone: true, Folder: env.Locks, Log: log})
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}
