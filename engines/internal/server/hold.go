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
// until it is not measured: also one that computes elsewhere, of which nothing on
// this host is claimed.
func (s *Server) Hold(ctx context.Context, who string, log func(format string, args ...any)) (release func() error, err error) {
	if s.Process() == nil && s.claim == nil {
		return s.Client().Hold(ctx, who, log)
	}
	var names []string
	if s.claim != nil {
		names = s.claim.names
	}
	l, err := lock.Acquire(ctx, lock.Request{Resources: names, Owner: who, Alone: true, Folder: s.config.locks, Log: log})
	if err != nil {
		return nil, err
	}
	if s.Process() == nil {
		return l.Release, nil
	}
	h := &hold{request: lock.Request{Owner: who, Alone: s.claim == nil, Folder: s.config.locks, Log: log}}
	for here := false; !here; {
		url := s.address()
		if err := h.take(ctx, url); err != nil {
			return nil, errors.Join(err, l.Release())
		}
		if here = s.holds.add(h, func() bool { return s.address() == url }); !here { // it was started again meanwhile
			if err := h.url.Release(); err != nil {
				return nil, errors.Join(err, l.Release())
			}
		}
	}
	return func() error {
		return errors.Join(s.holds.drop(h), l.Release())
	}, nil
}

// address is the name of the lock of a started server's present URL.
func (s *Server) address() string { return lock.URL(s.Process().URL()) }

// hold is the lock of a started server's URL while it is measured. It comes after
// those of devices in the order of names, so it can be waited for with them in
// hand. It is Alone where there are none: devices keep measurements of this process
// apart.
type hold struct {
	request lock.Request
	url     *lock.Lock
}

func (h *hold) take(ctx context.Context, url string) (err error) {
	h.request.Resources = []string{url}
	if h.url, err = lock.Acquire(ctx, h.request); err != nil {
		return fmt.Errorf("measure the server started here: %w; or run those who attach to it after this test", err)
	}
	return nil
}

// holds are those of a server, which has a new URL with each start.
type holds struct {
	mu  sync.Mutex
	all []*hold
}

// add has the hold follow the server, if that is still where it was locked.
func (hs *holds) add(h *hold, here func() bool) bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if !here() {
		return false
	}
	hs.all = append(hs.all, h)
	return true
}

func (hs *holds) drop(h *hold) error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.all = slices.DeleteFunc(hs.all, func(one *hold) bool { return one == h })
	return h.url.Release()
}

// move has the holds follow the server to another URL. Who has attached
// there already is waited for, and meanwhile no hold is added or dropped.
func (hs *holds) move(ctx context.Context, url string) error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	var errs []error
	for _, h := range hs.all {
		errs = append(errs, h.url.Release(), h.take(ctx, url))
	}
	return errors.Join(errs...)
}
