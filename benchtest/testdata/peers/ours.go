//go:build linux

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/fixtures"
)

// ourReport is what this project's client says of its run.
type ourReport struct {
	TTFT dist
	// ITL is nil where there is none, as with one token.
	ITL *dist
	// IDs are the requests that it is of.
	IDs []string
	// Notes are the client's verdict on itself, and what else it says of it.
	Notes []string
}

// ours is this project's client in a process of its own: a user's call of
// benchtest.Run, with no warmup and no settle, since the others have none.
func ours(args []string) error {
	flags := flag.NewFlagSet("ours", flag.ExitOnError)
	url := flags.String("url", "", "the server")
	rate := flags.Float64("rate", 0, "requests/s")
	requests := flags.Int("requests", 0, "number of requests")
	tokens := flags.Int("tokens", 0, "tokens of each reply")
	out := flags.String("out", "", "file for the report")
	flags.Parse(args)
	ctx := context.Background()
	engine, err := openai.Attach(ctx, openai.Config{URL: *url})
	if err != nil {
		return err
	}
	runs, err := benchtest.Run(ctx, engine, benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(prompt), Output: fixtures.Fixed(*tokens)},
		Arrivals: arrival.Poisson{Rate: *rate}, Requests: *requests,
		Warmup: -1, Settle: -1, Runs: 1,
		// Each run gets arrivals of its own, as those of the others do.
		Seed: uint64(time.Now().UnixNano()),
	}, benchtest.Options{})
	if err != nil {
		return err
	}
	report, err := reportOf(runs.Records[0])
	if err != nil {
		return err
	}
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return os.WriteFile(*out, text, 0o644)
}

// reportOf is what a user reads of a record: TTFT from the schedule, gaps
// between token events.
func reportOf(r *metric.Record) (ourReport, error) {
	var report ourReport
	var ttft []float64
	for _, t := range r.Counted() {
		first, ok := t.TTFT()
		if t.Failed() || !ok {
			continue
		}
		ttft = append(ttft, first.Seconds()*1e3)
		report.IDs = append(report.IDs, t.ID)
	}
	if len(ttft) == 0 {
		return report, fmt.Errorf("no request succeeded: %v", r.Problems)
	}
	report.TTFT = distOf(ttft)
	r.Summarise()
	if g := r.Gaps; g.N > 0 {
		report.ITL = &dist{
			Mean: g.Sum.Seconds() * 1e3 / float64(g.N), P50: g.P50.Seconds() * 1e3, P99: g.P99.Seconds() * 1e3,
		}
	}
	note := "its own verdict: " + r.Client.Verdict
	if r.Client.Verdict != metric.ClientOK {
		for _, reason := range r.Client.Reasons {
			what, _, _ := strings.Cut(reason, ": ") // without the remedy
			note += "; " + what
		}
	}
	report.Notes = append(report.Notes, note)
	return report, nil
}
