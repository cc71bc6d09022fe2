//go:build !race && !asan && !msan

package benchtest

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
)

// ballastSize is how much is allocated between two collections, at least, at
// the usual GOGC of 100.
const ballastSize = 64 << 20

// leastMemory is the smallest limit of memory under which there is ballast:
// GOMEMLIMIT counts it, and a container's limit counts what it lets pile up.
const leastMemory = 1 << 30

// ballast is never touched, so that it takes address space and, on Linux, no memory.
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
	ballast = make([]byte, ballastFor(gcPercent(), min(debug.SetMemoryLimit(-1), cgroupMemory())))
	shed(ballast)
})

// ballastFor is its size at a GOGC and a limit of memory. A larger GOGC needs
// less of it for as much, and none when the collector is off.
func ballastFor(percent uint64, limit int64) int {
	switch {
	case limit < leastMemory:
		return 0
	case percent <= 100:
		return ballastSize
	}
	return int(ballastSize * 100 / percent)
}

// gcPercent is GOGC; off is the largest number there is.
func gcPercent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(sample); sample[0].Value.Kind() != metrics.KindUint64 {
		return 100
	}
	return sample[0].Value.Uint64()
}

// cgroupMemory is the limit of the control group at the root of the mount, of
// version 2 or 1, and very large where it has none. In a container that is this
// process's own; on the host that of a systemd unit lies deeper, and is not seen.
func cgroupMemory() int64 {
	limit := int64(1<<63 - 1)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // or "max"
			limit = min(limit, n)
		}
	}
	return limit
}
