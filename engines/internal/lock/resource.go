package lock

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// resource is a locked file of this process and those who share it.
type resource struct {
	folder, name string
	file         *os.File
	// owners counts the holds of each owner.
	owners map[string]int
}

type key struct{ folder, name string }

// here are the resources that this process holds.
var here struct {
	sync.Mutex
	held map[key]*resource
}

// take takes a resource if it is free, or shares it if it is this process's;
// nil is another's.
func take(folder, name, owner string) (*resource, error) {
	here.Lock()
	defer here.Unlock()
	if one := here.held[key{folder, name}]; one != nil {
		one.owners[owner]++
		return one, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w: set OPENLOOP_LOCKS to a folder that can be written", name, err)
	}
	path := filepath.Join(folder, fileName(name)+".lock")
	// Never removed: who opened it before and locks it after would hold a file
	// that nobody else finds.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w: set OPENLOOP_LOCKS to a folder that can be written", name, err)
	}
	locked, err := tryLock(file)
	if !locked || err != nil {
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %s: %w: set OPENLOOP_LOCKS to a folder whose file system has locks", name, path, err)
		}
		return nil, nil
	}
	one := &resource{folder: folder, name: name, file: file, owners: map[string]int{owner: 1}}
	if here.held == nil {
		here.held = map[key]*resource{}
	}
	here.held[key{folder, name}] = one
	writeHolder(folder, name, owner)
	return one, nil
}

// give ends one hold of an owner's, and the lock with the last of them.
func (r *resource) give(owner string) error {
	here.Lock()
	defer here.Unlock()
	if r.owners[owner]--; r.owners[owner] == 0 {
		delete(r.owners, owner)
	}
	if len(r.owners) > 0 {
		return nil
	}
	delete(here.held, key{r.folder, r.name})
	// Unlocked, not only closed: a watchdog may have the file open as well.
	err := unlock(r.file)
	if closing := r.file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("unlock %s: %w", r.name, err)
	}
	return nil
}

// against is a resource that the owner already holds, or somebody who outlasts
// it, and that comes after name; empty when there is none.
func against(folder, name, owner string) string {
	here.Lock()
	defer here.Unlock()
	for _, k := range slices.SortedFunc(maps.Keys(here.held), func(a, b key) int { return strings.Compare(a.name, b.name) }) {
		if k.folder != folder || k.name < name {
			continue
		}
		for other := range here.held[k].owners {
			if outlasts(other, owner) {
				return k.name
			}
		}
	}
	return ""
}

// outlasts: what a test's ancestors hold, and the process itself, lasts as
// long as the test does.
func outlasts(holder, owner string) bool {
	return holder == "" || holder == owner || strings.HasPrefix(owner, holder+"/")
}

// others are the owners beside whom this one has the resource by chance: no
// ancestors of its own.
func (r *resource) others(owner string) string {
	here.Lock()
	defer here.Unlock()
	var names []string
	for _, other := range slices.Sorted(maps.Keys(r.owners)) {
		if !outlasts(other, owner) {
			names = append(names, other)
		}
	}
	return strings.Join(names, ", ")
}
