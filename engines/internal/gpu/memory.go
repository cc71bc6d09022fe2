package gpu

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Memory watches what devices have in use between one server and the next: a
// driver gives the memory of a process back some time after its end, and a
// server that starts in the meantime finds too little and dies.
type Memory struct {
	reader Reader
	uuids  []string
	log    func(format string, args ...any)
	// before is what each device had in use before the server started, own what
	// it took, leaving what was in use when it was about to end. Nil is unknown.
	before, own, leaving []uint64
}

const (
	// memoryPoll is the pause between two readings, and memoryStill how many of
	// them in a row must be alike before what is in use is taken as it is.
	memoryPoll  = 500 * time.Millisecond
	memoryStill = 4
	// memorySlack is what may come and go without a server: contexts, displays.
	memorySlack = 256 << 20
	// memoryEmpty is what a device may have in use that nobody uses.
	memoryEmpty = 768 << 20
	// memoryBudget bounds the wait.
	memoryBudget = 30 * time.Second
)

// Watch prepares to watch devices; a nil reader, or none, is a watch on
// nothing. Nil log is silent.
func Watch(r Reader, uuids []string, log func(format string, args ...any)) *Memory {
	if log == nil {
		log = func(string, ...any) {}
	}
	return &Memory{reader: r, uuids: uuids, log: log}
}

// Settle waits, before a server starts, until what is in use no longer
// changes: somebody else's server may be ending. What is in use then is taken
// as not this server's, and said when it is much. It is no error: whether the
// rest is enough is for the server to say. Memory that cannot be read is not
// waited for, and where other servers of this process share the devices what is
// in use is theirs.
func (m *Memory) Settle(ctx context.Context, shared bool) error {
	end := time.Now().Add(memoryBudget)
	m.before, m.own, m.leaving = nil, nil, nil
	var last []uint64
	for still := 1; ; {
		readings, err := m.read(ctx)
		if err != nil || readings == nil {
			return ctx.Err()
		}
		now := used(readings)
		if last != nil && alike(last, now) {
			still++
		} else {
			still = 1
		}
		last = now
		crowded := crowd(readings)
		if shared {
			crowded = ""
		}
		if crowded == "" || still >= memoryStill || time.Now().After(end) {
			m.before = now
			if crowded != "" {
				m.log("in use before the server starts: %s; what uses it is measured too (nvidia-smi names it)", crowded)
			}
			return nil
		}
		if err := sleep(ctx, memoryPoll); err != nil {
			return err
		}
	}
}

// Taken notes, when the server is ready, what it has taken.
func (m *Memory) Taken(ctx context.Context) {
	readings, err := m.read(ctx)
	if err != nil || len(m.before) == 0 || len(readings) != len(m.before) {
		return
	}
	m.own = make([]uint64, len(readings))
	for i, r := range readings {
		m.own[i] = r.Used - min(r.Used, m.before[i])
	}
}

// Leaving notes what is in use as the server, which lives, is about to end.
func (m *Memory) Leaving(ctx context.Context) {
	if readings, err := m.read(ctx); err == nil {
		m.leaving = used(readings)
	}
}

// Freed waits, after a server has ended, until the devices have no more in use
// than before it started; where other servers of this process share them, until
// what it took is free. After 30 s the error says what still is in use.
func (m *Memory) Freed(ctx context.Context, shared bool) error {
	want := m.want(shared)
	if want == nil {
		return nil
	}
	end := time.Now().Add(memoryBudget)
	for said := false; ; {
		readings, err := m.read(ctx)
		if err != nil || len(readings) != len(want) {
			return ctx.Err()
		}
		left := over(readings, want)
		switch {
		case left == "":
			return nil
		case time.Now().After(end):
			return fmt.Errorf("GPU memory is still in use %v after the server has ended: %s: find out what holds it (nvidia-smi)", memoryBudget, left)
		case !said:
			said = true
			m.log("waiting for GPU memory: %s", left)
		}
		if err := sleep(ctx, memoryPoll); err != nil {
			return fmt.Errorf("GPU memory is still in use: %s: %w", left, err)
		}
	}
}

// want is what may be in use of each device; nil is unknown.
func (m *Memory) want(shared bool) []uint64 {
	if !shared {
		return m.before
	}
	if m.own == nil || len(m.leaving) != len(m.own) {
		return nil
	}
	var want []uint64
	for i, own := range m.own {
		want = append(want, max(m.leaving[i]-min(m.leaving[i], own), memoryEmpty))
	}
	return want
}

// read is nil where there is nothing to read.
func (m *Memory) read(ctx context.Context) ([]Reading, error) {
	if m.reader == nil || len(m.uuids) == 0 {
		return nil, nil
	}
	readings, err := m.reader.Read(ctx, m.uuids)
	for _, r := range readings {
		if r.Total == 0 {
			return nil, nil // unknown
		}
	}
	return readings, err
}

func used(readings []Reading) []uint64 {
	var now []uint64
	for _, r := range readings {
		now = append(now, r.Used)
	}
	return now
}

// alike reports that nothing came or went.
func alike(a, b []uint64) bool {
	for i := range a {
		if max(a[i], b[i])-min(a[i], b[i]) > memorySlack/4 {
			return false
		}
	}
	return true
}

// crowd names the devices of which more than 5 % and a gigabyte are in use.
func crowd(readings []Reading) string {
	var crowded []string
	for _, r := range readings {
		if r.Used > 1<<30 && r.Used > r.Total/20 {
			crowded = append(crowded, fmt.Sprintf("%s of %s of %s", gibibytes(r.Used), gibibytes(r.Total), r.ID))
		}
	}
	return strings.Join(crowded, ", ")
}

// over names the devices with more in use than is wanted.
func over(readings []Reading, want []uint64) string {
	var left []string
	for i, r := range readings {
		if r.Used > want[i]+memorySlack {
			left = append(left, fmt.Sprintf("%s of %s of %s, %s without it", gibibytes(r.Used), gibibytes(r.Total), r.ID, gibibytes(want[i])))
		}
	}
	return strings.Join(left, "; ")
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

func sleep(ctx context.Context, d time.Duration) error {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-pause.C:
		return nil
	}
}
