package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/fixtures"
)

// The steps of a roofline. Requests are short, of one event; streams have
// events at the pace of a server's tokens.
const (
	firstRate    = 1000 // requests a second
	firstStreams = 100
	mostRate     = 256_000
	mostStreams  = 25_600
	perStream    = 50 // events a second
	streamEvents = 30
	// wideStreams are open at once in the last step, and wideRate events a
	// second are in each.
	wideStreams, wideEvents, wideRate = 10_000, 6, 2
	// shares of the time that the steps have.
	requestShare, eventShare = 0.40, 0.55
	requestWindow            = 400 * time.Millisecond
	eventWindow              = 400 * time.Millisecond
)

// roofline is what was measured.
type roofline struct {
	Host     []metric.Pair   `json:"host"`
	Client   *rooflineCost   `json:"client,omitempty"`
	Requests []rooflineStep  `json:"requests"`
	Events   []rooflineStep  `json:"events"`
	Streams  *rooflineWide   `json:"streams,omitempty"`
	Holds    rooflineHolds   `json:"holds"`
	Asked    *rooflineAnswer `json:"asked,omitempty"`
	Notes    []string        `json:"notes"`
}

// rooflineCost is the client's CPU time, as calibrated.
type rooflineCost struct {
	RequestSec float64 `json:"request_cpu_sec"`
	EventSec   float64 `json:"event_cpu_sec"`
}

// rooflineStep is one load that was offered. Readings are those of
// metric.Client, and late_p50_sec and late_p99_sec: how much later than the
// server's own time of sending an event was stamped. What is absent is unknown.
type rooflineStep struct {
	Requests float64            `json:"requests_per_sec"`
	Events   float64            `json:"events_per_sec"`
	Streams  float64            `json:"streams"`
	Verdict  string             `json:"verdict"`
	Reasons  []string           `json:"reasons"`
	Readings map[string]float64 `json:"readings"`
}

// held reports that the client was not the limit.
func (s rooflineStep) held() bool { return s.Verdict == metric.ClientOK }

// rooflineHolds is the largest load of each kind that was held; 0 is none.
type rooflineHolds struct {
	Requests float64 `json:"requests_per_sec"`
	Events   float64 `json:"events_per_sec"`
	Streams  int     `json:"streams"`
	// Limited says of which the limit was found; the others hold more.
	Limited []string `json:"limits_found"`
}

// rooflineRun measures against the server at url.
type rooflineRun struct {
	url string
	// streams is how many are to be open at once in the last step.
	streams int
	out     roofline
}

func measureRoofline(ctx context.Context, url string, streams int, lasts time.Duration) (*roofline, error) {
	m := &rooflineRun{url: url, streams: streams}
	m.out.Notes, m.out.Holds.Limited = []string{}, []string{}
	client, err := openai.New(openai.Config{URL: url, Model: "null"})
	if err != nil {
		return nil, err
	}
	if cost, err := client.Calibrate(ctx); err == nil {
		m.out.Client = &rooflineCost{cost.Request.Seconds(), cost.Event.Seconds()}
	} else if ctx.Err() == nil {
		m.note("%v", err)
	}
	begun := time.Now()
	if err := m.climbRequests(ctx, begun.Add(time.Duration(requestShare*float64(lasts)))); err != nil {
		return nil, err
	}
	if err := m.climbEvents(ctx, time.Now().Add(time.Duration(eventShare*float64(lasts)))); err != nil {
		return nil, err
	}
	if err := m.wide(ctx); err != nil {
		return nil, err
	}
	return &m.out, nil
}

// climbRequests doubles the rate of short requests until one is not held.
func (m *rooflineRun) climbRequests(ctx context.Context, end time.Time) error {
	for rate := float64(firstRate); rate <= mostRate; rate *= 2 {
		step, err := m.step(ctx, 0, benchtest.Point{
			Workload: shortPrompts(1), Arrivals: arrival.Poisson{Rate: rate}, Window: requestWindow,
			Settle: int(rate * 0.1),
		})
		if err != nil {
			return err
		}
		step.Requests, step.Events = rate, rate
		m.out.Requests = append(m.out.Requests, step)
		if !step.held() {
			m.out.Holds.Limited = append(m.out.Holds.Limited, "requests")
			return nil
		}
		m.out.Holds.Requests = rate
		if time.Now().After(end) {
			m.note("the steps of requests were ended for time: more than the last may be held")
			return nil
		}
	}
	return nil
}

// climbEvents makes streams four times as many until they are not held, and
// then tries the number between.
func (m *rooflineRun) climbEvents(ctx context.Context, end time.Time) error {
	held, failed := 0, 0
	for n := firstStreams; n <= mostStreams && n != held; {
		rate := float64(n) * perStream / streamEvents
		step, err := m.step(ctx, perStream, benchtest.Point{
			Workload: shortPrompts(streamEvents), Arrivals: arrival.Constant{Rate: rate}, Window: eventWindow, Settle: n,
		})
		if err != nil {
			return err
		}
		step.Requests, step.Events, step.Streams = rate, float64(n)*perStream, float64(n)
		m.out.Events = append(m.out.Events, step)
		if step.held() {
			held = n
			m.out.Holds.Events = step.Events
		} else {
			failed = n
		}
		switch {
		case failed > 0 && failed == 2*held || failed == firstStreams:
			m.out.Holds.Limited = append(m.out.Holds.Limited, "events")
			return nil
		case time.Now().After(end):
			m.note("the steps of events were ended for time: more than the last held may be")
			return nil
		case failed > 0:
			n = 2 * held
		default:
			n *= 4
		}
	}
	return nil
}

func (m *rooflineRun) note(format string, args ...any) {
	m.out.Notes = append(m.out.Notes, fmt.Sprintf(format, args...))
}

// shortPrompts are prompts of 16 tokens.
func shortPrompts(output int) benchtest.Workload {
	return fixtures.Lengths{Prompt: fixtures.Fixed(16), Output: fixtures.Fixed(output)}
}

// step offers one load, whose streams have rate events a second. One that is not
// held is offered once more: a host is busy for a moment now and then, and what
// it can do is asked.
func (m *rooflineRun) step(ctx context.Context, rate float64, p benchtest.Point) (rooflineStep, error) {
	step, err := m.offer(ctx, rate, p)
	if err != nil || step.held() {
		return step, err
	}
	return m.offer(ctx, rate, p)
}

// offer offers a load once.
func (m *rooflineRun) offer(ctx context.Context, rate float64, p benchtest.Point) (rooflineStep, error) {
	engine, err := m.watch(rate)
	if err != nil {
		return rooflineStep{}, err
	}
	defer engine.client.Close()
	r, err := m.run(ctx, engine, p)
	if err != nil {
		return rooflineStep{}, err
	}
	step := rooflineStep{Verdict: r.Client.Verdict, Reasons: r.Client.Reasons, Readings: r.Client.Readings}
	for _, p := range r.Problems {
		if p.Kind != metric.ClientLimited && p.Kind != "too-short" {
			step.Verdict, step.Reasons = "invalid", []string{p.Kind + ": " + p.Text}
		}
	}
	sent, err := m.sent(ctx)
	if err != nil {
		return step, err
	}
	if late := engine.late(r, sent); len(late) > 0 {
		at := func(q float64) float64 { return late[int(math.Ceil(q*float64(len(late))))-1].Seconds() }
		step.Readings["late_p50_sec"], step.Readings["late_p99_sec"] = at(0.5), at(0.99)
	}
	return step, nil
}

// run makes one run at a point.
func (m *rooflineRun) run(ctx context.Context, engine engines.Engine, p benchtest.Point) (*metric.Record, error) {
	p.Runs, p.Warmup, p.Cache, p.Drain = 1, -1, benchtest.Warm, 5*time.Second
	runs, err := benchtest.Run(ctx, engine, p, benchtest.Options{})
	if err != nil {
		return nil, err
	}
	r := runs.Records[0]
	if m.out.Host == nil {
		m.describe(r)
	}
	return r, nil
}
