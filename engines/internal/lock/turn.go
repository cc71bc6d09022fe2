package lock

import (
	"os"
	"path/filepath"
)

// turn is the place of the one who is next to have a resource: a lock of its own,
// which is held while waiting for the resource's and given back with it in hand.
// Who gives the resource back and wants it again finds the place taken. It is
// free when its holder dies, as the resource is, and adds no cycle of waiting:
// who has it waits for the resource and for nothing else.
type turn struct {
	folder, name string
	file         *os.File // nil is not this one's turn
}

// comes takes the place if it is free, and reports whether this one has it.
func (t *turn) comes() (bool, error) {
	if t.file == nil {
		file, err := lockFile(t.path())
		if err != nil {
			return false, err
		}
		t.file = file
	}
	return t.file != nil, nil
}

func (t *turn) path() string { return filepath.Join(t.folder, fileName(t.name)+".turn") }

// whose is a sentence's end that says who keeps the resource from this one: its
// holder, or where it may be free the one who is next.
func (t *turn) whose() string {
	const next = "somebody else is next to have"
	h := readHolder(t.folder, t.name)
	switch {
	case t.file != nil:
		return h.String()
	case h.PID == 0:
		return next
	}
	return h.String() + ", and " + next
}

// give lets the next one wait first.
func (t *turn) give() {
	if t.file == nil {
		return
	}
	_ = os.Remove(t.path()) // as a resource's own
	_ = unlock(t.file)
	_ = t.file.Close()
	t.file = nil
}
