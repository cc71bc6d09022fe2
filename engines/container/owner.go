package container

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// Labels of every container.
const (
	kindLabel  = "openloop.kind"  // "vllm"
	ownerLabel = "openloop.owner" // the process whose it is
)

// owner is a process, told from all others: pids are used again, by another
// process, after a reboot, and in every namespace.
type owner struct {
	machine   string // the host
	boot      string // its run since the last boot
	namespace string // of pids
	pid       int
	started   string // when, in the clock of the boot
}

// self is this process.
var self = sync.OnceValue(func() owner { return describe(os.Getpid()) })

// String is the value of the label.
func (o owner) String() string {
	return fmt.Sprintf("%s/%s/%s/%d/%s", o.machine, o.boot, o.namespace, o.pid, o.started)
}

// parseOwner reads the label; false where it is none.
func parseOwner(label string) (owner, bool) {
	var o owner
	fields := strings.Split(label, "/")
	if len(fields) != 5 {
		return o, false
	}
	if _, err := fmt.Sscanf(fields[3], "%d", &o.pid); err != nil || o.pid <= 0 {
		return o, false
	}
	o.machine, o.boot, o.namespace, o.started = fields[0], fields[1], fields[2], fields[4]
	return o, o.started != ""
}

// fate is what is known of an owner.
type fate int

const (
	unknown fate = iota // it is elsewhere, or cannot be seen
	lives
	died     // and left what it started running
	rebooted // the host has, since
)

// nameless: images are made without a machine-id (machine-id(5)), and those of
// CI are seldom given one.
func nameless(machine string) bool { return machine == "" || machine == "uninitialized" }

// fateOf judges whether an owner lives, as seen from this process.
func fateOf(o owner) fate { return self().fateOf(o) }

func (me owner) fateOf(o owner) fate {
	switch {
	case o.started == "" || me.started == "" || o.machine != me.machine:
		return unknown
	case nameless(o.machine) && (o.boot == "" || o.boot != me.boot):
		return unknown // any host's; a boot is one host's alone
	case o.boot != me.boot:
		return rebooted
	case o.namespace != me.namespace:
		return unknown
	}
	return look(o)
}
