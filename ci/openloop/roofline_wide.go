package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/descriptors"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// wideStreams are open at once in the last step, with wideEvents each, whose
// time depends on how long it takes to send them all.
const wideStreams, wideEvents = 10_000, 4

// rooflineWide is many streams at once.
type rooflineWide struct {
	Streams int `json:"streams"`
	// Ended is how many of them ended well; nil where they were not tried to the
	// end.
	Ended *int `json:"ended,omitempty"`
	// BytesEach is what each takes of this process's heap and stacks; 0 is
	// unknown.
	BytesEach float64 `json:"bytes_each,omitempty"`
	// SentSec is how long it took until all were sent; 0 is unknown.
	SentSec float64 `json:"all_sent_sec,omitempty"`
	Reason  string  `json:"reason,omitempty"`
}

// counted is an engine whose calls are counted that have not returned.
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

// weight is what each stream takes of this process's memory, as measured from a
// time to another, by nullserver.Now.
type weight struct {
	each     float64
	from, to int64
}

// together is when all streams were open, by nullserver.Now: from when the last
// was sent to when the first ended.
type together struct{ from, to int64 }

// all reports whether there was such a time.
func (o together) all() bool { return o.from < o.to }

// openTogether is that of streams, from the record. A stream that was not seen,
// not sent or has no end was open with no other.
func openTogether(streams []*metric.Timeline, seen func(id string) (nullserver.Seen, bool)) together {
	o := together{math.MinInt64, math.MaxInt64}
	for _, t := range streams {
		s, ok := seen(t.ID)
		if !ok || t.Sent == 0 || t.Closed == 0 {
			return together{}
		}
		o.from, o.to = max(o.from, s.Origin+int64(t.Sent)), min(o.to, s.Origin+int64(t.Closed))
	}
	if len(streams) == 0 {
		return together{}
	}
	return o
}

// sending is what the CPU time of sending so many streams is.
func sending(c *rooflineCost, streams int) time.Duration {
	each := 60e-6
	if c != nil {
		each = c.RequestSec
	}
	return time.Duration(each * float64(streams) * float64(time.Second))
}

// lasting is how long streams are open, so that the first is when the last is
// sent: three times what sending takes on one CPU.
func lasting(c *rooflineCost, streams int) time.Duration {
	return min(max(3*sending(c, streams), time.Second), 2500*time.Millisecond)
}

// wideTakes is about how long so many streams take: the look at the server,
// sending, which takes the server's CPU time besides, and the last stream; a
// third more for what is not foreseen, and as much again on a host that is busy.
func wideTakes(c *rooflineCost, streams int, busy bool) time.Duration {
	takes := 400*time.Millisecond + 2*sending(c, streams) + lasting(c, streams)
	if busy {
		return 2 * takes
	}
	return takes * 4 / 3
}

// streamsIn is how many streams, up to n, there is time for.
func streamsIn(left time.Duration, c *rooflineCost, n int, busy bool) int {
	for n > 0 && wideTakes(c, n, busy) > left {
		n = int(0.9 * float64(n))
	}
	return int(rounded(float64(n)))
}

// wide opens as many streams at once as descriptors and time allow, up to those
// wanted, where that is more than were open in the steps of events.
func (m *rooflineRun) wide(ctx context.Context) error {
	n := m.streams
	if files := descriptors.Limit(); files > 0 && files-otherFiles < n {
		n = files - otherFiles
		m.note("more streams at once than %s were not tried: %s", whole1000(float64(n)), filesEnd(files))
	}
	holds := m.out.Holds
	wide := &rooflineWide{Streams: n}
	m.out.Streams = wide
	if end, bounded := ctx.Deadline(); bounded {
		if fewer := streamsIn(time.Until(end), m.out.Client, n, m.out.Busy != ""); fewer < n {
			holds.Cut.Streams = true
			if fewer <= 0 || holds.Streams != nil && fewer <= *holds.Streams {
				wide.Reason = "not tried for want of time"
				return nil
			}
			m.note("more streams at once than %s were not tried for want of time", whole1000(float64(fewer)))
			n, wide.Streams = fewer, fewer
		}
	}
	last := lasting(m.out.Client, n)
	w, err := m.watch(wideEvents / last.Seconds())
	if err != nil {
		return err
	}
	engine := &counted{watched: w}
	defer engine.close()
	before := inUse()
	weights := make(chan weight, 1)
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(weights)
		// A call comes a little before its stream is sent, so one look is not
		// enough; whether two are is for the record to say.
		for looks := 0; looks < 2; {
			select {
			case <-over.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
			if engine.open.Load() >= int64(n) {
				looks++
			}
		}
		w := weight{from: nullserver.Now()}
		w.each = max(0, inUse()-before) / float64(n)
		w.to = nullserver.Now()
		weights <- w
	}()
	r, err := m.run(ctx, engine, benchtest.Point{
		Workload: shortPrompts(wideEvents), Closed: benchtest.Closed{InFlight: n}, Requests: n, Settle: -1, Drain: drained(2 * last),
		Limits: benchtest.Limits{Lag: time.Hour},
	})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		wide.Reason = fmt.Sprintf("not tried to the end: %v are over", m.time.hard)
		holds.Cut.Streams = true
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		wide.Reason, holds.Not.Streams = err.Error(), n
		return nil
	}
	cancel()
	weight, weighed := <-weights
	open := openTogether(r.Counted(), engine.Seen)
	all := open.all()
	if weighed && all && weight.from >= open.from && weight.to <= open.to {
		wide.BytesEach = weight.each
	}
	ended := 0
	wide.Ended = &ended
	for _, t := range r.Counted() {
		if !t.Failed() {
			ended++
		} else if wide.Reason == "" {
			wide.Reason = t.Failure + ": " + t.Message
		}
		wide.SentSec = max(wide.SentSec, (t.Sent - t.Scheduled).Seconds())
	}
	if !all && wide.Reason == "" {
		wide.Reason = "they were never all open at once: the first had ended before the last was sent"
	}
	switch {
	case all && ended >= n && (holds.Streams == nil || n > *holds.Streams):
		holds.Streams = &n
	case !all || ended < n:
		holds.Not.Streams, holds.Cut.Streams = n, false
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
