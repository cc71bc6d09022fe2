//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// waits is how long threads were runnable and had no CPU, and how many times
// they got one, by the kernel's scheduler (/proc/PID/task/TID/schedstat). It
// counts in nanoseconds, where /proc/stat counts in ticks, which threads that
// run shortly between ticks escape.
//
// Note: the share of the host's CPUs that is idle says less: it is of all CPUs,
// and a client waits for one while another is idle.
type waits struct{ Waited, Runs uint64 }

// ownWaits are those of this process's threads; one that has ended is not
// counted, and the Go runtime ends hardly any.
func ownWaits() (waits, error) { return waitsIn("/proc/self/task/*/schedstat") }

// threadWaits are those of the calling thread, which must be locked.
func threadWaits() (waits, error) { return waitsIn("/proc/thread-self/schedstat") }

// waitsIn is the sum of such files. A kernel that does not count has none, or
// zeros: that is an error, and no wait of zero.
func waitsIn(pattern string) (sum waits, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return sum, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		var ran, waited, runs uint64
		if _, err := fmt.Sscan(string(text), &ran, &waited, &runs); err != nil {
			return sum, fmt.Errorf("read %s: %w in %q", file, err, text)
		}
		sum.Waited, sum.Runs = sum.Waited+waited, sum.Runs+runs
	}
	if sum.Runs == 0 {
		return sum, fmt.Errorf("read %s: the kernel does not count how long threads wait for a CPU (CONFIG_SCHEDSTATS)", pattern)
	}
	return sum, nil
}

// since is what was added since w0.
func (w waits) since(w0 waits) waits { return waits{w.Waited - w0.Waited, w.Runs - w0.Runs} }

// each is the mean wait for a CPU; false where no thread ran.
func (w waits) each() (time.Duration, bool) {
	if w.Runs == 0 {
		return 0, false
	}
	return time.Duration(w.Waited / w.Runs), true
}

// probeEvery is how often a probe wakes up.
const probeEvery = time.Millisecond

// probe is how long a thread that sleeps waits for a CPU when it wakes, on
// average over so long.
func probe(d time.Duration) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := threadWaits()
	if err != nil {
		return 0, err
	}
	for end := time.Now().Add(d); time.Now().Before(end); {
		sleepThread(probeEvery)
	}
	after, err := threadWaits()
	if err != nil {
		return 0, err
	}
	each, ran := after.since(before).each()
	if !ran {
		return 0, fmt.Errorf("probe the host: the thread never ran in %v", d)
	}
	return each, nil
}
