// Package lock keeps two test binaries off the same device or server: `go test
// ./...` runs packages side by side, and two measurements on one GPU measure
// each other.
//
// A lock is a file that the kernel locks for this process, so that however the
// process ends the lock is free: there is no stale lock and nothing to clean
// up. Those who wait say for whom, at once and again and again.
//
// Who waits first is the next to have it, so that a package which gives a
// resource back between two tests and takes it again at once does not keep
// another waiting for as long as it has tests. Of several that wait chance
// decides who waits first.
//
// Within a process a resource is shared: two engines that are measured in
// turns live on one device. Only who measures has it alone. The process gives
// it back when the last of its owners has.
//
// Nobody waits for ever. One who holds a resource waits only for resources that
// come after it in the order of their names; one request takes its own in that
// order, and a later request that would have to wait against it fails, and says
// in which order to start.
package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Request says what is wanted, by whom.
type Request struct {
	// Resources are names as GPU, URL and CPU make them. None is a lock on
	// nothing, which is never waited for.
	Resources []string
	// Owner is the name of the test that holds them; empty is the process
	// itself, as in TestMain.
	Owner string
	// Alone is for who measures: no other owner of this process measures on
	// the resources meanwhile. False shares them.
	Alone bool
	// Now is for who would rather not wait: for what another has, Acquire
	// returns an *InUse at once.
	Now bool
	// Folder holds the lock files; empty is Folder(). Only processes with the
	// same one keep off each other, so it is for OPENLOOP_LOCKS to say.
	Folder string
	// Log is told for whom this waits; nil is silent.
	Log func(format string, args ...any)
	// Helper is a test's, for a Log that is its too: what is logged then has the
	// line of who called Acquire. Nil is none.
	Helper func()
}

// InUse says that another has a resource. Holder is a sentence's end, as in
// "perf.test (pid 42, TestDecode, in /src/perf) has held since 14:02:11".
type InUse struct{ Resource, Holder string }

// Error is the resource and who has it.
func (e *InUse) Error() string { return e.Resource + ", which " + e.Holder }

const (
	// poll is the pause between two tries. Nothing tells of a lock that has
	// become free.
	poll = 200 * time.Millisecond
	// remind is the pause between two lines to the log.
	remind = 30 * time.Second
)

// Lock is what a request got.
type Lock struct {
	owner string
	alone bool
	held  []*resource
}

// Acquire waits until all resources are this process's and returns them, or an
// error and nothing when ctx ends first.
func Acquire(ctx context.Context, r Request) (*Lock, error) {
	if r.Log == nil {
		r.Log = func(string, ...any) {}
	}
	if r.Helper == nil {
		r.Helper = func() {}
	}
	r.Helper()
	if r.Folder == "" && len(r.Resources) > 0 {
		r.Folder = Folder()
	}
	l := &Lock{owner: r.Owner, alone: r.Alone}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Resources))) {
		one, err := r.wait(ctx, name)
		if err != nil {
			l.Release()
			return nil, err
		}
		l.held = append(l.held, one)
	}
	return l, nil
}

// wait takes one resource, however long that takes.
func (r *Request) wait(ctx context.Context, name string) (*resource, error) {
	r.Helper()
	began, reminded := time.Now(), time.Time{}
	turn := turn{folder: r.Folder, name: name}
	defer turn.give()
	for {
		one, neighbour, err := turn.take(r.Owner, r.Alone)
		if err != nil {
			return nil, err
		}
		if one != nil {
			if !reminded.IsZero() {
				r.Log("%s is free, after %v", name, time.Since(began).Round(time.Second))
			}
			return one, nil
		}
		holder := turn.whose()
		held := against(r.Folder, name, r.Owner, neighbour != "")
		if neighbour != "" {
			holder = neighbour + " of this process measures"
		}
		switch {
		case r.Now:
			return nil, &InUse{Resource: name, Holder: holder}
		case held != "":
			return nil, fmt.Errorf("must not wait for %s, which %s, while holding %s: two that wait for each other would do so for ever; take %s first, or run one after the other (go test -p 1, without t.Parallel)",
				name, holder, held, name)
		}
		if reminded.IsZero() || time.Since(reminded) >= remind {
			reminded = time.Now()
			r.Log("waiting for %s, which %s (waited %v)", name, holder, time.Since(began).Round(time.Second))
		}
		pause := time.NewTimer(poll)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, fmt.Errorf("waited %v for %s, which %s: %w; give the tests more time, or run one after the other (go test -p 1, without t.Parallel)",
				time.Since(began).Round(time.Second), name, holder, context.Cause(ctx))
		}
	}
}

// Files are the locked files. A process that inherits them (exec.Cmd's
// ExtraFiles) holds the resources too, for as long as it lives or until
// Release: a watchdog does, so that nobody takes a device between the death of
// this process and that of its server. Where locks are not inherited it is
// empty.
func (l *Lock) Files() []*os.File {
	if l == nil || !inherited {
		return nil
	}
	var files []*os.File
	for _, one := range l.held {
		files = append(files, one.file)
	}
	return files
}

// Release gives the resources back. It may be called again, and on nil.
func (l *Lock) Release() error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, one := range slices.Backward(l.held) {
		errs = append(errs, one.give(l.owner, l.alone))
	}
	l.held = nil
	return errors.Join(errs...)
}
