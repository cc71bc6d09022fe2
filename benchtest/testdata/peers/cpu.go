//go:build linux

package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// meter follows the processor time of a process and all that it starts.
type meter struct {
	known map[int]float64 // seconds, also of those that have ended
	stop  chan struct{}
	done  sync.WaitGroup

	at   []int64 // by nullserver.Now
	used []float64
}

// measure begins to read the processor time four times a second. The process
// was started at began, by nullserver.Now.
func measure(pid int, began int64) *meter {
	m := &meter{known: map[int]float64{pid: 0}, stop: make(chan struct{}), at: []int64{began}, used: []float64{0}}
	m.done.Go(func() {
		t := time.NewTicker(250 * time.Millisecond)
		defer t.Stop()
		for i := 0; ; i++ {
			m.sample(i%4 == 0)
			select {
			case <-m.stop:
				return
			case <-t.C:
			}
		}
	})
	return m
}

// end stops it. The processes have ended, so that total, from the kernel's
// account of them, takes the place of the last reading where it is larger.
func (m *meter) end(total float64) {
	close(m.stop)
	m.done.Wait()
	m.at, m.used = append(m.at, nullserver.Now()), append(m.used, max(total, m.used[len(m.used)-1]))
}

// total is the seconds used in all.
func (m *meter) total() float64 { return m.used[len(m.used)-1] }

func (m *meter) sample(find bool) {
	if find {
		m.find()
	}
	total := 0.0
	for pid, before := range m.known {
		if now, ok := processorTime(pid); ok {
			m.known[pid] = max(now, before)
		}
		total += m.known[pid]
	}
	m.at, m.used = append(m.at, nullserver.Now()), append(m.used, total)
}

// find adds the children of what is known, and theirs.
func (m *meter) find() {
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if fields := statOf(pid); len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			parents[parent] = append(parents[parent], pid)
		}
	}
	var add func(pid int)
	add = func(pid int) {
		for _, child := range parents[pid] {
			if _, ok := m.known[child]; !ok {
				m.known[child] = 0
			}
			add(child)
		}
	}
	for pid := range m.known {
		add(pid)
	}
}

// between is the seconds used between two times, read off the line through the
// samples; NaN where there are none around them.
func (m *meter) between(from, to int64) float64 { return m.by(to) - m.by(from) }

func (m *meter) by(at int64) float64 {
	for i := 1; i < len(m.at); i++ {
		if m.at[i-1] <= at && at <= m.at[i] {
			share := float64(at-m.at[i-1]) / float64(m.at[i]-m.at[i-1])
			return m.used[i-1] + share*(m.used[i]-m.used[i-1])
		}
	}
	return math.NaN()
}

// statOf is the fields of /proc/PID/stat after the name, from the state on.
func statOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

// processorTime is the processor time of a process and all its threads, also
// those that have ended, without its children; false when it is gone. See
// clock_getcpuclockid(3) for the clock's number.
func processorTime(pid int) (seconds float64, ok bool) {
	const scheduled = 2
	var ts syscall.Timespec
	_, _, no := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|scheduled), uintptr(unsafe.Pointer(&ts)), 0)
	return float64(ts.Nano()) / 1e9, no == 0
}
