package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// rooflineStep is one load that was offered. Readings are those of
// metric.Client, and late_p50_sec and late_p99_sec: how much later than the
// server's own time of sending an event was stamped, and server_pace: the rate
// at which the server sent events ÷ the rate asked for. What is absent is
// unknown.
type rooflineStep struct {
	Requests float64 `json:"requests_per_sec"`
	Events   float64 `json:"events_per_sec"`
	Streams  float64 `json:"streams"`
	// WindowSec is how long the load was offered, apart from settle and cooldown.
	WindowSec float64            `json:"window_sec"`
	Verdict   string             `json:"verdict"`
	Reasons   []string           `json:"reasons"`
	Readings  map[string]float64 `json:"readings"`
}

// The verdicts of a step besides those of metric.Client.
const (
	// serverLimited: the server on this host could not send the events.
	serverLimited = "server-limited"
	// stepInvalid: the run was invalid for a reason that is not the client's.
	stepInvalid = "invalid"
)

// leastPace is the smallest server_pace of a step that is held.
const leastPace = 0.98

// journalFor is how long the server may take to tell what it sent.
const journalFor = time.Second

// held reports that the load was offered and read, and the client was not the
// limit.
func (s rooflineStep) held() bool { return s.Verdict == metric.ClientOK }

// offer offers a load, whose streams have rate events a second.
func (m *rooflineRun) offer(ctx context.Context, rate float64, p benchtest.Point) (step rooflineStep, err error) {
	engine, err := m.watch(rate)
	if err != nil {
		return step, err
	}
	defer engine.close()
	r, err := m.run(ctx, engine, p)
	if err != nil {
		return step, err
	}
	step = rooflineStep{Verdict: r.Client.Verdict, Reasons: r.Client.Reasons, Readings: r.Client.Readings}
	for _, p := range r.Problems {
		if p.Kind != metric.ClientLimited && p.Kind != "too-short" && step.Verdict == metric.ClientOK {
			step.Verdict, step.Reasons = stepInvalid, []string{p.Kind + ": " + p.Text}
		}
	}
	// Also of a step that was cut.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalFor)
	defer cancel()
	sent, err := m.sent(ctx)
	if err != nil {
		return step, err
	}
	step.beside(r, engine, sent, rate)
	return step, nil
}

// beside puts a run's events beside the server's own times of sending them.
func (s *rooflineStep) beside(r *metric.Record, engine *watched, sent map[string][]int64, rate float64) {
	var late []int64
	gaps, took := 0, time.Duration(0)
	for _, t := range r.Counted() {
		seen, _ := engine.Seen(t.ID)
		times := sent[t.ID]
		if len(times) == 0 || len(seen.Events) != len(times) {
			continue // it did not end
		}
		for i, at := range seen.Events {
			late = append(late, at-times[i])
		}
		gaps += len(times) - 1
		took += time.Duration(times[len(times)-1] - times[0])
	}
	if len(late) == 0 {
		return
	}
	slices.Sort(late)
	at := func(q float64) float64 {
		return time.Duration(late[int(math.Ceil(q*float64(len(late))))-1]).Seconds()
	}
	s.Readings["late_p50_sec"], s.Readings["late_p99_sec"] = at(0.5), at(0.99)
	if rate == 0 || took == 0 {
		return
	}
	pace := float64(gaps) / took.Seconds() / rate
	s.Readings["server_pace"] = pace
	if pace < leastPace && s.held() {
		s.Verdict = serverLimited
		s.Reasons = []string{fmt.Sprintf("the server on this host sent %.1f %% of the events in their time, want at least %.0f %%: the client may hold more against a server elsewhere", 100*pace, 100*leastPace)}
	}
}

// drained is how long to wait for the last streams of a load, which last so
// long. What has not ended then was held up.
func drained(stream time.Duration) time.Duration { return stream + stream/4 + 500*time.Millisecond }

// run makes one run at a point. One that was cut counts where the client was
// the limit until then.
func (m *rooflineRun) run(ctx context.Context, engine engines.Engine, p benchtest.Point) (*metric.Record, error) {
	p.Runs, p.Warmup, p.Cache = 1, -1, benchtest.Warm
	runs, err := benchtest.Run(ctx, engine, p, benchtest.Options{})
	if len(runs.Records) == 0 {
		return nil, err
	}
	r := runs.Records[0]
	if err != nil && r.Client.Verdict != metric.ClientLimited {
		return nil, err // it was cut, and nothing is known yet
	}
	if m.out.Host == nil {
		m.describe(r)
	}
	return r, nil
}

// watched is the client that engines are measured with, watched.
type watched struct {
	*nullserver.Watched
	client, quick *openai.Engine
}

// watch makes a client of the server's streams of that rate.
func (m *rooflineRun) watch(rate float64) (*watched, error) {
	client, err := openai.New(openai.Config{URL: fmt.Sprintf("%s/%g", m.url, rate), Model: "null"})
	if err != nil {
		return nil, err
	}
	quick, err := openai.New(openai.Config{URL: m.url + "/0", Model: "null"})
	if err != nil {
		client.Close()
		return nil, err
	}
	return &watched{nullserver.Watch(client), client, quick}, nil
}

func (w *watched) close() {
	w.client.Close()
	w.quick.Close()
}

// Generate implements engines.Engine. The driver's first look at an engine does
// not wait for a slow stream.
func (w *watched) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	if strings.Contains(r.ID, "-ready") {
		return w.quick.Generate(ctx, r, emit)
	}
	return w.Watched.Generate(ctx, r, emit)
}
