//go:build !race && !asan && !msan

package benchtest

import (
	"runtime/debug"
	"sync"
)

// ballastSize is how much is allocated between two collections, at least.
const ballastSize = 64 << 20

// leastLimit is the smallest memory limit (GOMEMLIMIT) under which there is
// ballast, because it counts against the limit.
const leastLimit = 1 << 30

// ballast is memory that is never touched, so that it takes address space and,
// unless the heap had freed as much before, no memory.
var ballast []byte

// carryBallast has the process carry ballast from the first measurement on a
// real clock until it ends. The collector runs when the heap has doubled: with
// the few MB that a client needs it would run some times a second, and each
// time requests leave late and events are stamped late. With ballast it runs
// when as much again has been allocated.
//
// Note: debug.SetGCPercent does it too, but is the user's setting, and a
// percentage that suits 4 MB is far too much for the 200 MB to which the
// samples of a long run grow.
var carryBallast = sync.OnceFunc(func() {
	if debug.SetMemoryLimit(-1) >= leastLimit {
		ballast = make([]byte, ballastSize)
	}
})
