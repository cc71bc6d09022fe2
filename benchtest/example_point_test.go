package benchtest_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

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
	// Output: {ErrorRate:0.01 Achieved:0.99 Lag:5ms Wake:5ms Stamp:1ms Cached:0.01 Length:0.02 ZeroGaps:0.9 Shared:0.01}
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

// With an SLO, a point's goodput and attainment are metrics of each run, and a
// gate compares them with the baseline's by itself.
func ExamplePoint_slo() {
	engine, err := sim.NewModel(sim.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	p := benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 12.5}, Requests: 2000, Settle: 400, Runs: 1,
		SLO: benchtest.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond},
	}
	runs, err := benchtest.Run(context.Background(), engine, p, benchtest.Options{Test: "TestHoldsItsSLO"})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"goodput-req/s", "attainment"} {
		v, err := runs.Records[0].Value(name)
		fmt.Printf("%s %.3g %v\n", name, v, err)
	}
	// Output:
	// goodput-req/s 12.1 <nil>
	// attainment 0.943 <nil>
}
