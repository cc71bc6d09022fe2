package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/openloop-go/openloop/engines/internal/lock"
)

// Hold implements engines.Holder: what is claimed is kept from other
// measurements of this process, and what was only attached to from all. A server
// that was started here may be attached to from elsewhere, so whoever does waits
// until it is not measured.
func (s *Server) Hold(ctx context.Context, who string, log func(format string, args ...any)) (release func() error, err error) {
	if s.claim == nil || s.Process() != nil && !s.Process().Local() {
		return s.Client().Hold(ctx, who, log)
	}
	l, err := lock.Acquire(ctx, lock.Request{Resources: s.claim.names, Owner: who, Alone: true, Folder: s.claim.locks, Log: log})
	if err != nil {
		return nil, err
	}
	if s.Process() == nil {
		return l.Release, nil
	}
	h := &hold{request: lock.Request{Owner: who, Folder: s.claim.locks, Log: log}}
	if err := h.take(ctx, lock.URL(s.Process().URL())); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	s.holds.add(h)
	return func() error {
		return errors.Join(s.holds.drop(h), l.Release())
	}, nil
}

// hold is the lock of a started server's URL while it is measured. It comes after
// those of devices in the order of names, so it can be waited for with them in
// hand. It is not Alone: within this process the devices keep measurements apart.
type hold struct {
	request lock.Request
	url     *lock.Lock
}

func (h *hold) take(ctx context.Context, url string) (err error) {
	h.request.Resources = []string{url}
	if h.url, err = lock.Acquire(ctx, h.request); err != nil {
		return fmt.Errorf("measure the server started here: %w", err)
	}
	return nil
}

// holds are those of a server, which has a new URL with each start.
type holds struct {
	mu  sync.Mutex
	all []*hold
}

func (hs *holds) add(h *hold) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.all = append(hs.all, h)
}

func (hs *holds) drop(h *hold) error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.all = slices.DeleteFunc(hs.all, func(one *hold) bool { return one == h })
	return h.url.Release()
}

// move has the holds follow the server to another URL.
func (hs *holds) move(ctx context.Context, url string) error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	var errs []error
	for _, h := range hs.all {
		errs = append(errs, h.url.Release(), h.take(ctx, url))
	}
	return errors.Join(errs...)
}
