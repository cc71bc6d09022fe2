package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// watched is the client that engines are measured with, and keeps the stamps of
// its events.
type watched struct {
	client *openai.Engine
	open   atomic.Int64

	mu sync.Mutex
	at map[string][]time.Duration
}

// watch makes a client of the server's streams of that rate.
func (m *rooflineRun) watch(rate float64) (*watched, error) {
	client, err := openai.New(openai.Config{URL: fmt.Sprintf("%s/%g", m.url, rate), Model: "null"})
	return &watched{client: client, at: map[string][]time.Duration{}}, err
}

// Generate implements engines.Engine.
func (w *watched) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	w.open.Add(1)
	defer w.open.Add(-1)
	stamps := make([]time.Duration, 0, r.MaxTokens)
	reply, err := w.client.Generate(ctx, r, func(c engines.Chunk) {
		if c.Token {
			stamps = append(stamps, c.At)
		}
		emit(c)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[r.ID] = stamps
	return reply, err
}

// Warm implements engines.Warmer.
func (w *watched) Warm(ctx context.Context, n int) error { return w.client.Warm(ctx, n) }

// late is how much later than they were sent the window's events were stamped,
// sorted. The two clocks are one host's.
func (w *watched) late(r *metric.Record, sent map[string][]int64) []time.Duration {
	var late []time.Duration
	origin := r.Time.UnixNano()
	for _, t := range r.Counted() {
		stamps, times := w.at[t.ID], sent[t.ID]
		if len(times) == 0 || len(stamps) < len(times) && len(times) > 1 {
			continue // the server was not done with it when it was asked
		}
		for i, at := range stamps {
			// All events of one write have its time.
			late = append(late, time.Duration(origin+int64(at)-times[min(i, len(times)-1)]))
		}
	}
	slices.Sort(late)
	return late
}

// sent asks the server when it sent the events of each request.
func (m *rooflineRun) sent(ctx context.Context) (map[string][]int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/sent", nil)
	if err != nil {
		return nil, err
	}
	reply, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server what it sent: %w", err)
	}
	defer reply.Body.Close()
	sent := map[string][]int64{}
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		id, times, _ := strings.Cut(lines.Text(), " ")
		for word := range strings.FieldsSeq(times) {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("ask the server what it sent: %w", err)
			}
			sent[id] = append(sent[id], n)
		}
	}
	return sent, lines.Err()
}

// rooflineWide is many streams at once.
type rooflineWide struct {
	Streams int `json:"streams"`
	// Ended is how many of them ended well.
	Ended int `json:"ended"`
	// BytesEach is what each takes of this process's heap and stacks; 0 is
	// unknown.
	BytesEach float64 `json:"bytes_each,omitempty"`
	// SentSec is how long it took until all were sent.
	SentSec float64 `json:"all_sent_sec"`
	Reason  string  `json:"reason,omitempty"`
}

// wide opens as many streams at once as descriptors allow, up to wideStreams.
func (m *rooflineRun) wide(ctx context.Context) error {
	n := m.streams
	if files := openFiles(); files > 0 && files-256 < n {
		n = max(files-256, 1)
		m.note("%d streams at once is what this process's descriptors allow (RLIMIT_NOFILE %d): raise it with ulimit -n", n, files)
	}
	engine, err := m.watch(wideRate)
	if err != nil {
		return err
	}
	defer engine.client.Close()
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
	r, err := m.run(ctx, engine, benchtest.Point{
		Workload: shortPrompts(wideEvents), Closed: benchtest.Closed{InFlight: n}, Requests: n, Settle: -1,
		Limits: benchtest.Limits{Lag: time.Hour},
	})
	if err != nil {
		wide.Reason = err.Error()
		m.out.Streams = wide
		return ctx.Err()
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
	if m.out.Streams = wide; all && wide.Ended >= n {
		m.out.Holds.Streams = n
	} else {
		m.out.Holds.Limited = append(m.out.Holds.Limited, "streams")
	}
	_, err = m.sent(ctx) // which forgets them
	return err
}

// inUse is the memory of the heap and of stacks, after a collection.
func inUse() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc + s.StackInuse)
}
