package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines"
)

// wideStreams are open at once in the last step, with wideEvents each, whose
// time depends on how long it takes to send them all.
const wideStreams, wideEvents = 10_000, 4

// rooflineWide is many streams at once.
type rooflineWide struct {
	Streams int `json:"streams"`
	// Ended is how many of them ended well.
	Ended int `json:"ended"`
	// BytesEach is what each takes of this process's heap and stacks; 0 is
	// unknown.
	BytesEach float64 `json:"bytes_each,omitempty"`
	// SentSec is how long it took until all were sent; 0 is unknown.
	SentSec float64 `json:"all_sent_sec,omitempty"`
	Reason  string  `json:"reason,omitempty"`
}

// counted is an engine whose open streams are counted.
type counted struct {
	*watched
	open atomic.Int64
}

// Generate implements engines.Engine.
func (c *counted) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	c.open.Add(1)
	defer c.open.Add(-1)
	return c.watched.Generate(ctx, r, emit)
}

// lasting is how long streams are open, so that the first is when the last is
// sent: three times what sending takes on one CPU.
func lasting(c *rooflineCost, streams int) time.Duration {
	each := 60e-6
	if c != nil {
		each = c.RequestSec
	}
	return min(max(time.Duration(3*each*float64(streams)*float64(time.Second)), time.Second), 2500*time.Millisecond)
}

// wide opens as many streams at once as descriptors allow, up to those wanted.
func (m *rooflineRun) wide(ctx context.Context) error {
	n := m.streams
	if files := openFiles(); files > 0 && files-otherFiles < n {
		n = files - otherFiles
		m.note("%s streams at once is what this process's descriptors allow (RLIMIT_NOFILE %d): raise it with ulimit -n", whole1000(float64(n)), files)
	}
	last := lasting(m.out.Client, n)
	w, err := m.watch(wideEvents / last.Seconds())
	if err != nil {
		return err
	}
	engine := &counted{watched: w}
	defer engine.close()
	before := inUse()
	each := make(chan float64, 1)
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(each)
		for engine.open.Load() < int64(n) {
			select {
			case <-over.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		each <- max(0, inUse()-before) / float64(n)
	}()
	wide := &rooflineWide{Streams: n}
	m.out.Streams, m.out.Holds.Not.Streams = wide, n
	r, err := m.run(ctx, engine, benchtest.Point{
		Workload: shortPrompts(wideEvents), Closed: benchtest.Closed{InFlight: n}, Requests: n, Settle: -1, Drain: drained(2 * last),
		Limits: benchtest.Limits{Lag: time.Hour},
	})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		wide.Reason = fmt.Sprintf("they were cut for time: %v are over", m.time.hard)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		wide.Reason = err.Error()
		return nil
	}
	cancel()
	bytes, all := <-each
	wide.BytesEach = bytes
	for _, t := range r.Counted() {
		if !t.Failed() {
			wide.Ended++
		} else if wide.Reason == "" {
			wide.Reason = t.Failure + ": " + t.Message
		}
		wide.SentSec = max(wide.SentSec, (t.Sent - t.Scheduled).Seconds())
	}
	if !all && wide.Reason == "" {
		wide.Reason = "they were never all open at once: the first had ended before the last was sent"
	}
	if all && wide.Ended >= n {
		m.out.Holds.Streams, m.out.Holds.Not.Streams = n, 0
	}
	return nil
}

// inUse is the memory of the heap and of stacks, after a collection.
func inUse() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc + s.StackInuse)
}
