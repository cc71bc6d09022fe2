package benchtest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
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

// Everything that is wrong is said at once, before anything starts.
func ExamplePoint_Validate() {
	fmt.Println(benchtest.Point{Workload: chat, Window: -time.Minute, ClientLimit: -1}.Validate())
	// Output:
	// benchtest: exactly one of Point.Arrivals and Point.Closed must be set, got neither: as in Arrivals: arrival.Poisson{Rate: 4}
	// benchtest: Point.ClientLimit must not be negative, got -1: use 0 for no limit
	// benchtest: Point.Window must be positive, got -1m0s
}

func ExamplePoint_String() {
	fmt.Println(quiet)
	// Output: poisson 4/s, lengths 2048/256, 300 requests a run
}

func ExamplePoint_Label() {
	fmt.Println(quiet.Label())
	fmt.Println(benchtest.Point{Closed: benchtest.Closed{InFlight: 1}}.Label())
	// Output:
	// poisson-4
	// serial
}

func ExamplePoint_Pairs() {
	for _, p := range quiet.Pairs() {
		if p.Key != "workload-hash" {
			fmt.Println(p.Key, "=", p.Value)
		}
	}
	// Output:
	// workload = lengths 2048/256
	// arrivals = poisson 4/s
	// requests = 300
	// warmup = 50
	// settle = 50
	// drain = 1m0s
	// cache = cold
}

// The number of runs changes nothing that is measured in a run; the load does.
func ExamplePoint_Hash() {
	more, faster := quiet, quiet
	more.Runs = 12
	faster.Arrivals = arrival.Poisson{Rate: 5}
	fmt.Println(more.Hash() == quiet.Hash(), faster.Hash() == quiet.Hash())
	// Output: true false
}

// What a plan says of its runs.
func ExamplePlannedRun() {
	p := benchtest.Point{Workload: chat, Arrivals: arrival.Constant{Rate: 4}, Requests: 300, Drain: 10 * time.Second}
	plan, err := p.Plan()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range plan.Runs {
		fmt.Println("run", r.Index, "start", r.Start, "settle", r.Settle, "window", r.Window, "of", r.Arrivals)
	}
	// Output:
	// run 0 start 0 settle 12.5s window 1m15s of 300
	// run 1 start 0 settle 12.5s window 1m15s of 300
	// run 2 start 0 settle 12.5s window 1m15s of 300
}

func ExamplePlan_Duration() {
	p := benchtest.Point{Workload: chat, Arrivals: arrival.Constant{Rate: 4}, Requests: 300, Drain: 10 * time.Second}
	plan, err := p.Plan()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Duration())
	// Output: 5m29.25s true
}

// The dry run says what a measurement would do.
func ExamplePoint_Plan() {
	p := benchtest.Point{Workload: questions{}, Closed: benchtest.Closed{InFlight: 64}, Requests: 2000, Runs: 1}
	plan, err := p.Plan()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan)
	// Output:
	// closed-64: closed loop, 64 in flight, questions, 2000 requests a run
	// point 847885bae14e, cache cold, 1 run on 1 engine start
	// run 0  start 0  seed 793d988a1bce2d1a  warmup 256, settle 256, window 2000 requests, drain at most 1m0s
	// engine time depends on the engine: it is a closed loop
}

// One request in flight: there is no queue, and no quieter point to compare
// engines at.
func ExampleClosed() {
	serial := benchtest.Point{Workload: chat, Closed: benchtest.Closed{InFlight: 1}, Requests: 30, Warmup: 3, Settle: -1, Runs: 1}
	runs, err := benchtest.Run(context.Background(), model(), serial, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	tpot, err := runs.Records[0].Value("p50-tpot-sec")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("TPOT %.2f ms\n", 1000*tpot)
	// Output: TPOT 4.57 ms
}

// A point that needs the cache cold, and proof of it.
func ExampleCache() {
	p := quiet
	p.Cache = benchtest.ProvedCold
	runs, err := benchtest.Run(context.Background(), model(), p, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	r := runs.Records[0]
	fmt.Println(p.Cache, r.Flush, r.CacheProof, r.Valid())
	// Output: proved-cold flushed requests true
}

func ExampleCache_String() {
	fmt.Println(benchtest.Cold, benchtest.ProvedCold, benchtest.Warm)
	// Output: cold proved-cold warm
}

func ExampleLimits() {
	p := quiet
	p.Limits = benchtest.Limits{
		ErrorRate: 0.001,                // stricter
		Length:    1,                    // off: half the length passes, and up to twice
		Lag:       2 * time.Millisecond, // 1 % of a limit of 200 ms
	}
	fmt.Println(p.Validate())
	// Output: <nil>
}

func ExampleDefaultLimits() {
	fmt.Printf("%+v\n", benchtest.DefaultLimits())
	// Output: {ErrorRate:0.01 Achieved:0.99 Lag:5ms Cached:0.01 Length:0.02 ZeroGaps:0.9}
}

func ExampleSLO() {
	slo := benchtest.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}
	runs, err := benchtest.Run(context.Background(), model(), quiet, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	good, total := runs.Records[0].Attainment(slo)
	fmt.Println(good, "of", total)
	// Output: 300 of 300
}

// questions is a workload of one's own: short questions, long answers. Shape
// decides lengths, content the words.
type questions struct{}

func (questions) Request(i int, shape, content uint64) engines.Request {
	return engines.Request{
		Text:      fmt.Sprintf("Question %d of %x: why?", i, content),
		MaxTokens: 100 + int((shape+uint64(i))%50),
		IgnoreEOS: true,
	}
}

func (questions) String() string { return "questions" }

func ExampleWorkload() {
	p := benchtest.Point{Workload: questions{}, Arrivals: arrival.Poisson{Rate: 2}, Requests: 100, Runs: 1}
	runs, err := benchtest.Run(context.Background(), model(), p, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(runs.Records[0].Counted()), runs.Records[0].Valid())
	// Output: 100 true
}
