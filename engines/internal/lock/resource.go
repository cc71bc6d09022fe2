package lock

import (
	"errors"
	"fmt"
	"io/fs"
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
	// measurer is the owner who has it alone, measures how often.
	measurer string
	measures int
}

type key struct{ folder, name string }

// here are the resources that this process holds.
var here struct {
	sync.Mutex
	held map[key]*resource
}

// take takes a resource if it is free and nobody waits for it, or shares it if
// it is this process's. Nil is another process's, or where there is a neighbour,
// that owner's of this process who measures on it.
func take(folder, name, owner string, alone bool) (one *resource, neighbour string, err error) {
	turn := turn{folder: folder, name: name}
	defer turn.give()
	return turn.take(owner, alone)
}

// take is the function take for one who may have waited for its turn.
func (t *turn) take(owner string, alone bool) (one *resource, neighbour string, err error) {
	here.Lock()
	defer here.Unlock()
	one = here.held[key{t.folder, t.name}]
	if one != nil && alone && one.measures > 0 && one.measurer != owner {
		return nil, one.measurer, nil
	}
	if one == nil {
		if one, err = t.open(); one == nil {
			return nil, "", err
		}
		writeHolder(t.folder, t.name, owner)
	}
	one.owners[owner]++
	if alone {
		one.measurer = owner
		one.measures++
	}
	return one, "", nil
}

// open locks the resource for this process; nil is another's.
func (t *turn) open() (*resource, error) {
	if err := os.MkdirAll(t.folder, 0o700); err != nil {
		return nil, fmt.Errorf("lock %s: %w: set OPENLOOP_LOCKS to a folder that can be written", t.name, err)
	}
	var file *os.File
	next, err := t.comes()
	if next {
		file, err = lockFile(lockPath(t.folder, t.name))
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w: set OPENLOOP_LOCKS to a folder that can be written, on a file system that has locks", t.name, err)
	}
	if file == nil {
		return nil, nil
	}
	one := &resource{folder: t.folder, name: t.name, file: file, owners: map[string]int{}}
	if here.held == nil {
		here.held = map[key]*resource{}
	}
	here.held[key{t.folder, t.name}] = one
	return one, nil
}

func lockPath(folder, name string) string { return filepath.Join(folder, fileName(name)+".lock") }

// lockFile opens and locks a file; nil is one that another process has locked.
func lockFile(path string) (*os.File, error) {
	for refused := 0; ; {
		file, err := openFile(path)
		if err != nil {
			// Another user's file comes and goes, and is not for all at first.
			if refused++; refused < 10 && errors.Is(err, fs.ErrPermission) {
				continue
			}
			return nil, err
		}
		locked, err := tryLock(file)
		if locked && err == nil && current(file, path) {
			return file, nil
		}
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !locked {
			return nil, nil
		}
	}
}

// openFile opens a lock's file, which users may share. To lock it is enough
// that it can be read, as one that a umask has closed to writing; and in a
// folder as /tmp another user's file may not be opened with O_CREATE at all
// (fs.protected_regular of Linux).
func openFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err == nil {
		_ = file.Chmod(0o666) // whatever the umask; the owner's to do
		return file, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		if read, readErr := os.Open(path); readErr == nil {
			return read, nil
		}
	}
	return nil, err
}

// current reports that the file is the one that others find at its path. Who
// gives a lock back removes its file, which others may have open already.
func current(file *os.File, path string) bool {
	ours, err := file.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(path)
	return err == nil && os.SameFile(ours, theirs)
}

// give ends one hold of an owner's, and the lock with the last of them.
func (r *resource) give(owner string, alone bool) error {
	here.Lock()
	defer here.Unlock()
	if alone {
		r.measures--
	}
	if r.owners[owner]--; r.owners[owner] == 0 {
		delete(r.owners, owner)
	}
	if len(r.owners) > 0 {
		return nil
	}
	delete(here.held, key{r.folder, r.name})
	// Servers have new ports each time, and their files would pile up. Where an
	// open file cannot be removed it stays.
	_ = os.Remove(holderFile(r.folder, r.name))
	_ = os.Remove(lockPath(r.folder, r.name))
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

// against is a resource that comes after name and that the owner already holds,
// or somebody who outlasts it; where it waits for a neighbour, one on which it
// measures itself. Empty is none.
func against(folder, name, owner string, neighbour bool) string {
	here.Lock()
	defer here.Unlock()
	for _, k := range slices.SortedFunc(maps.Keys(here.held), func(a, b key) int { return strings.Compare(a.name, b.name) }) {
		one := here.held[k]
		switch {
		case k.folder != folder || k.name < name:
		case neighbour:
			if one.measures > 0 && one.measurer == owner {
				return k.name
			}
		case slices.ContainsFunc(slices.Collect(maps.Keys(one.owners)), func(o string) bool { return outlasts(o, owner) }):
			return k.name
		}
	}
	return ""
}

// outlasts: what a test's ancestors hold, and the process itself, lasts as
// long as the test does.
func outlasts(holder, owner string) bool {
	return holder == "" || holder == owner || strings.HasPrefix(owner, holder+"/")
}
