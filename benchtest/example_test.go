package benchtest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// chat is the workload of these examples.
var chat = fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)}

// quiet is a load of about a third of what the embedded engine can do.
var quiet = benchtest.Point{Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300}

// model is the embedded engine as arithmetic. Tests of a server use
// engines/vllm and its like.
func model() *sim.Model {
	m, err := sim.NewModel(sim.Config{Noise: sim.Quiet, DevMode: true})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

// In a test: measure, then let package assert judge. Here the engine is the
// embedded one, in virtual time.
func ExampleMeasure() {
	_ = func(t *testing.T) { // func TestDecodeDidNotSlowDown(t *testing.T)
		synctest.Test(t, func(t *testing.T) {
			engine := sim.New(t, sim.Config{})
			runs := benchtest.Measure(t, engine, benchtest.Point{
				Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300,
			})
			t.Log(len(runs.Records))
		})
	}
}

// T is all that Measure needs of a test: a *testing.T is one, and so is what
// another test library gives.
func ExampleT() {
	var _ benchtest.T = (*testing.T)(nil)
	var _ benchtest.T = (testing.TB)(nil)
}

// Outside of a test.
func ExampleRun() {
	runs, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs.Records {
		ttft, err := r.Value("p50-ttft-sec")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("run %d: %d requests, valid %t, p50 TTFT %.0f ms\n", r.Run, len(r.Counted()), r.Valid(), 1000*ttft)
	}
	// Output:
	// run 0: 300 requests, valid true, p50 TTFT 39 ms
	// run 1: 300 requests, valid true, p50 TTFT 39 ms
	// run 2: 300 requests, valid true, p50 TTFT 39 ms
}

// Records go to a folder of your own, and progress to a function.
func ExampleOptions() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	o := benchtest.Options{Test: "nightly", Dir: dir, Log: log.Printf}
	if _, err := benchtest.Run(context.Background(), model(), quiet, o); err != nil {
		log.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "records", "nightly", "*"))
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output: poisson-4.jsonl
}

// Stored runs are judged without the engine, and cannot be extended.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if _, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{Dir: dir}); err != nil {
		log.Fatal(err)
	}
	runs, err := benchtest.Load(filepath.Join(dir, "records", "poisson-4.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(runs.Records), runs.Extendable())
	// Output: 3 false
}

// A run that was valid by the default limits need not be by stricter ones.
func ExampleJudge() {
	runs, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	r := runs.Records[0]
	r.Requests[100].Failure, r.Requests[100].Message = "reset", "connection reset after 12 tokens"
	problems, _ := benchtest.Judge(r, quiet)
	fmt.Println("at 1 %:", problems)
	strict := quiet
	strict.Limits.ErrorRate = 0.001
	problems, _ = benchtest.Judge(r, strict)
	fmt.Println("at 0.1 %:", problems[0].Text)
	// Output:
	// at 1 %: []
	// at 0.1 %: 1 of 300 requests failed (0.333 %), limit 0.1 %; first failure: reset: connection reset after 12 tokens: find out why, or raise Limits.ErrorRate
}

// Runs are data. NoRegression of package assert is the only assertion that
// asks for more of them.
func ExampleRuns() {
	runs, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	first := runs.Records[0]
	fmt.Println(len(runs.Records), first.PointName, first.InFlightAt(first.From) > 0)
	// Output: 3 poisson-4 true
}

func ExampleRuns_Extend() {
	runs, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := runs.Extend(context.Background(), 5); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(runs.Records))
	// Output: 5
}

// A baseline is of more starts of the engine than one.
func ExampleRuns_ExtendOver() {
	runs, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := runs.ExtendOver(context.Background(), 12, 2); err != nil {
		log.Fatal(err)
	}
	for _, r := range runs.Records {
		fmt.Print(r.Start)
	}
	// Output: 000000111111
}

func ExampleRuns_Extendable() {
	stored := &benchtest.Runs{}
	fmt.Println(stored.Extendable())
	// Output: false
}
