package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/rogpeppe/go-internal/testscript"
)

// arm makes up a baseline of twelve runs: slow is a factor on all latencies,
// cv their variation between runs.
type arm struct {
	file, hardware, prompt string
	slow, cv               float64
	seed                   uint64
	// starts of the engine; 0 is two.
	starts int
}

// arms are the files that every script finds. What they differ in is in their
// names.
var arms = []arm{
	{file: "old.bench", hardware: "1x H100", prompt: "2048", slow: 1, cv: 0.01, seed: 1},
	{file: "same.bench", hardware: "1x H100", prompt: "2048", slow: 1, cv: 0.01, seed: 2},
	{file: "slower.bench", hardware: "1x H100", prompt: "2048", slow: 1.1, cv: 0.01, seed: 3},
	{file: "faster.bench", hardware: "1x H100", prompt: "2048", slow: 0.8, cv: 0.01, seed: 4},
	{file: "noisy.bench", hardware: "1x H100", prompt: "2048", slow: 1.02, cv: 0.3, seed: 5},
	{file: "h200.bench", hardware: "1x H200", prompt: "2048", slow: 1, cv: 0.01, seed: 6},
	{file: "shorter.bench", hardware: "1x H100", prompt: "1024", slow: 1, cv: 0.01, seed: 7},
	{file: "starts.bench", hardware: "1x H100", prompt: "2048", slow: 1, cv: 0.01, seed: 8, starts: 6},
	{file: "noisystarts.bench", hardware: "1x H100", prompt: "2048", slow: 1, cv: 0.04, seed: 9, starts: 6},
	{file: "borderline.bench", hardware: "1x H100", prompt: "2048", slow: 1, cv: 0.035, seed: 10, starts: 4},
}

func (a arm) baseline() *regressions.Baseline {
	b := &regressions.Baseline{Recorded: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Commit: "3f2c9a1b7d4e"}
	b.Test, b.PointName, b.Schema = "TestChat", "poisson-4", metric.Schema
	b.Point = []metric.Pair{{Key: "workload", Value: "chat(" + a.prompt + "/256)"}, {Key: "arrivals", Value: "poisson 4/s"}}
	b.PointHash = metric.Hash(b.Point)
	b.Key = []metric.Pair{{Key: "engine", Value: "vllm"}, {Key: "hardware", Value: a.hardware}}
	rng := rand.New(rand.NewPCG(a.seed, 0))
	for i := range 12 {
		start := i * max(a.starts, 2) / 12
		f := a.slow * math.Exp(a.cv*rng.NormFloat64())
		b.Runs = append(b.Runs, regressions.Run{
			Index: i, Seed: uint64(i), Start: start, StartID: fmt.Sprint(a.file, start), Time: b.Recorded.Add(time.Duration(i) * time.Minute),
			Values: map[string]float64{
				"p50-ttft-sec": 0.039 * f, "p50-tpot-sec": 0.00578 * f, "p50-e2e-sec": 1.51 * f, "error-rate": 0,
				"mean-prompt-tokens": 2048, "mean-output-tokens": 256, "cached-share": 0,
			},
		})
	}
	return b
}

// records makes up three runs of records at 10 requests a second; late is the
// part of every arrival that the engine does not catch up with.
func records(tpot time.Duration, late float64, problems ...metric.Problem) []*metric.Record {
	var out []*metric.Record
	for run := range 3 {
		rng := rand.New(rand.NewPCG(uint64(run), uint64(tpot)))
		r := &metric.Record{
			Schema: metric.Schema, Test: "TestChat", PointName: "ten", Point: []metric.Pair{{Key: "workload", Value: "chat(100/11)"}},
			Run: run, StartID: fmt.Sprint(tpot), Seed: uint64(run), Virtual: true, Rate: 10,
			From: time.Second, To: 31 * time.Second, Problems: problems,
		}
		r.PointHash = metric.Hash(r.Point)
		f := math.Exp(0.003 * rng.NormFloat64())
		for i := range 300 {
			due := r.From + time.Duration(i)*100*time.Millisecond
			first := due + time.Duration(f*float64(50*time.Millisecond)*(0.5+rng.Float64())) + time.Duration(late*float64(i)*1e8)
			last := first + 10*time.Duration(f*float64(tpot))
			r.Requests = append(r.Requests, metric.Timeline{
				ID: fmt.Sprint(i), Phase: metric.Window, Scheduled: due, Sent: due, FirstEvent: first, FirstToken: first, FirstContent: first,
				LastToken: last, Closed: last, Events: 11, FirstTokens: 1, OutputTokens: 11, PromptTokens: 100, CachedTokens: 0, AskedPrompt: 100, AskedOutput: 11,
			})
		}
		out = append(out, r)
	}
	return out
}

// uneven are runs of which one output in fifty is very long, so that a little
// growth is neither shown nor excluded.
func uneven(runs []*metric.Record) []*metric.Record {
	for _, r := range runs {
		for i := 0; i < len(r.Requests); i += 50 {
			r.Requests[i].OutputTokens, r.Requests[i].AskedOutput = 11_000, 11_000
		}
	}
	return runs
}

// prepare puts the made-up files into a script's folder.
func prepare(env *testscript.Env) error {
	for _, a := range arms {
		if err := regressions.WriteBaseline(filepath.Join(env.WorkDir, a.file), a.baseline(), false); err != nil {
			return err
		}
	}
	for file, runs := range map[string][]*metric.Record{
		"old.jsonl":     records(5*time.Millisecond, 0),
		"slower.jsonl":  records(6*time.Millisecond, 0),
		"growing.jsonl": records(5*time.Millisecond, 0.3),
		"uneven.jsonl":  uneven(records(5*time.Millisecond, 0.01)),
		"invalid.jsonl": records(5*time.Millisecond, 0, metric.Problem{Kind: "errors", Text: "4 % of the requests failed, limit 1 %"}),
	} {
		var b bytes.Buffer
		if err := metric.WriteRecords(&b, runs...); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(env.WorkDir, file), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	old, err := os.ReadFile(filepath.Join(env.WorkDir, "old.bench"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(env.WorkDir, "cut.bench"), old[:len(old)/2], 0o666)
}
