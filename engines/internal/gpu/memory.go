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
	// before is what each device had in use when there was no server of ours.
	before []uint64
}

const (
	// memoryPoll is the pause between two readings, and memoryStill how many of
	// them in a row must be alike before what is in use is taken as it is.
	memoryPoll  = 500 * time.Millisecond
	memoryStill = 4
	// memorySlack is what may come and go without a server: contexts, displays.
	memorySlack = 256 << 20
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
// as not ours, and said when it is much. It is no error: whether the rest is
// enough is for the server to say. Memory that cannot be read is not waited
// for.
func (m *Memory) Settle(ctx context.Context) error {
	end := time.Now().Add(memoryBudget)
	m.before = nil
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

// Freed waits, after a server has ended, until the devices have no more in use
// than before it started. After 30 s the error says what still is.
func (m *Memory) Freed(ctx context.Context) error {
	if m.before == nil {
		return nil
	}
	end := time.Now().Add(memoryBudget)
	for said := false; ; {
		readings, err := m.read(ctx)
		if err != nil || len(readings) != len(m.before) {
			return ctx.Err()
		}
		left := m.left(readings)
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

// left names the devices with more in use than before.
func (m *Memory) left(readings []Reading) string {
	var left []string
	for i, r := range readings {
		if r.Used > m.before[i]+memorySlack {
			left = append(left, fmt.Sprintf("%s of %s of %s, %s before it started", gibibytes(r.Used), gibibytes(r.Total), r.ID, gibibytes(m.before[i])))
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
