package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/internal/descriptors"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// The steps of a roofline. Requests are short, of one event; streams have
// events at the pace of a fast server's tokens, so that few are needed for many
// events and a step is short.
const (
	leastRate, mostRate     = 50, 1_000_000 // requests a second
	leastEvents, mostEvents = 1000, 2_500_000
	perStream               = 100 // events a second
	streamEvents            = 24
	stepWindow              = 250 * time.Millisecond
	longWindow              = time.Second // of a load that is to be held for longer
	calibrateFor            = 1500 * time.Millisecond
)

// roofline is what was measured.
type roofline struct {
	Host     []metric.Pair   `json:"host"`
	Client   *rooflineCost   `json:"client,omitempty"`
	Requests []rooflineStep  `json:"requests,omitempty"`
	Events   []rooflineStep  `json:"events,omitempty"`
	Streams  *rooflineWide   `json:"streams,omitempty"`
	Holds    *rooflineHolds  `json:"holds,omitempty"`
	Asked    *rooflineAnswer `json:"asked,omitempty"`
	// Busy is why this host counts as busy; empty is that it does not, or nobody
	// knows.
	Busy  string   `json:"busy_host,omitempty"`
	Notes []string `json:"notes"`
}

// rooflineCost is the client's CPU time, as calibrated.
type rooflineCost struct {
	RequestSec float64 `json:"request_cpu_sec"`
	EventSec   float64 `json:"event_cpu_sec"`
}

// rooflineRun measures against the server at url.
type rooflineRun struct {
	url string
	// streams is how many are to be open at once in the last step.
	streams int
	time    rooflineTime
	// grace is how long a step may go on after the time of its kind is over.
	grace time.Duration
	first rooflineFirst
	// downwards is how much longer a climb may take that has held nothing yet.
	downwards time.Duration
	// load is the load average before; nil is unknown.
	load *float64
	// log is told what takes long; nil is nobody.
	log io.Writer
	out roofline
}

// measure measures all there is.
func (m *rooflineRun) measure(ctx context.Context) error {
	m.look()
	begun := time.Now()
	ctx, cancel := context.WithDeadline(ctx, begun.Add(m.time.hard))
	defer cancel()
	m.out.Holds = &rooflineHolds{}
	if err := m.calibrate(ctx); err != nil {
		return err
	}
	requests, events := predict(m.out.Client, runtime.GOMAXPROCS(0))
	holds := m.out.Holds
	c := climb{first: requests * m.first.requests, least: leastRate, most: mostRate}
	if err := m.search(ctx, coldKind, begun.Add(m.time.requests), &c, &m.out.Requests, m.shortRequests); err != nil {
		return err
	}
	holds.Requests, holds.Not.Requests, holds.Cut.Requests, holds.Sec.Requests = c.result(), c.failed, c.cut, c.heldFor()

	most := float64(mostEvents)
	if files := descriptors.Limit(); files > 0 {
		most = min(most, float64(files-otherFiles)*perStream)
	}
	c = climb{first: events * m.first.events, least: leastEvents, most: most}
	if err := m.search(ctx, "events", begun.Add(m.time.events), &c, &m.out.Events, m.manyEvents); err != nil {
		return err
	}
	holds.Events, holds.Not.Events, holds.Cut.Events, holds.Sec.Events = c.result(), c.failed, c.cut, c.heldFor()
	if c.held == most && most < mostEvents {
		m.note("more events were not tried: %s", filesEnd(descriptors.Limit()))
	}
	holds.atLeast(m.out.Events)
	if holds.none() {
		m.note("more streams at once were not tried on a host that is so busy")
		holds.Cut.Streams = true
	} else if err := m.wide(ctx); err != nil {
		return err
	}
	holds.plan()
	return nil
}

// calibrate has the client tell what it costs.
func (m *rooflineRun) calibrate(ctx context.Context) error {
	m.out.Notes = []string{}
	client, err := openai.New(openai.Config{URL: m.url, Model: "null"})
	if err != nil {
		return err
	}
	defer client.Close()
	limited, cancel := context.WithTimeout(ctx, calibrateFor)
	defer cancel()
	cost, err := client.Calibrate(limited)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		m.note("the first steps are a small host's: %v", err)
	default:
		m.out.Client = &rooflineCost{cost.Request.Seconds(), cost.Event.Seconds()}
	}
	return nil
}

// shortRequests offers requests of one event.
func (m *rooflineRun) shortRequests(ctx context.Context, rate float64, window time.Duration) (rooflineStep, error) {
	step, err := m.offer(ctx, 0, benchtest.Point{
		Workload: shortPrompts(1), Arrivals: arrival.Poisson{Rate: rate}, Window: max(window, time.Duration(20/rate*float64(time.Second))),
		Settle: max(int(rate*0.05), 1), Drain: drained(0),
	})
	step.Requests, step.Events = rate, rate
	return step, err
}

// manyEvents offers streams with so many events a second together.
func (m *rooflineRun) manyEvents(ctx context.Context, events float64, window time.Duration) (rooflineStep, error) {
	streams, rate := events/perStream, events/streamEvents
	step, err := m.offer(ctx, perStream, benchtest.Point{
		Workload: shortPrompts(streamEvents), Arrivals: arrival.Constant{Rate: rate}, Window: window, Settle: int(streams),
		Drain: drained(streamEvents * time.Second / perStream),
	})
	step.Requests, step.Events, step.Streams = rate, events, streams
	return step, err
}

func (m *rooflineRun) note(format string, args ...any) {
	m.out.Notes = append(m.out.Notes, fmt.Sprintf(format, args...))
}

// shortPrompts are prompts of 16 tokens.
func shortPrompts(output int) benchtest.Workload {
	return fixtures.Lengths{Prompt: fixtures.Fixed(16), Output: fixtures.Fixed(output)}
}

// sent asks the server what it sent, by request.
func (m *rooflineRun) sent(ctx context.Context) (map[string][]int64, error) {
	journal, err := nullserver.Read(ctx, m.url)
	if err != nil {
		return nil, err
	}
	sent := make(map[string][]int64, len(journal))
	for _, r := range journal {
		sent[r.ID] = r.Sent
	}
	return sent, nil
}
