package benchtest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines/sim"
)

// Once, for an engine and a class of machines. In a test: t.Log(probed).
func ExampleProbeCapacity() {
	engine, err := sim.NewModel(sim.Config{DevMode: true, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	probed, err := benchtest.ProbeCapacity(context.Background(), engine, benchtest.Probe{Workload: chat}, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(probed)
	// Output:
	// capacity 14.1 req/s, 95 % interval 13.6 … 14.6 (t over 3 runs), 64 in flight, 28860 prompt and 3607 output tok/s
	// on       sim, meta-llama/Meta-Llama-3-8B-Instruct, 1x H100 SXM 80GB (simulated)
	// climb    8: 5.01, 16: 8.18, 32: 11.1, 64: 14.0, 128: 13.9 req/s
	// write    const capacity benchtest.Capacity = 14 // req/s
	//          and leave it: the rates follow from it, and a baseline is of one rate
	//          capacity.Serial(workload) // serial, closed loop, 30 requests a run
	//          capacity.Quiet(workload)  // poisson 4.7/s, 150 requests a run
	//          capacity.Knee(workload)   // poisson 12.3/s, 2000 requests a run
}

// The number that a probe found is written down, and the points follow from
// it: the same ones tomorrow, and of an engine that has become slower.
func ExampleCapacity() {
	const capacity benchtest.Capacity = 14 // req/s
	for _, p := range []benchtest.Point{capacity.Serial(chat), capacity.Quiet(chat), capacity.Knee(chat)} {
		fmt.Println(p.Label(), "·", p, "·", p.Hash())
	}
	// Output:
	// serial · serial, closed loop, lengths 2048/256, 30 requests a run · 992673f98ddf
	// poisson-4.7 · poisson 4.7/s, lengths 2048/256, 150 requests a run · 05af69d28844
	// poisson-12.3 · poisson 12.3/s, lengths 2048/256, 2000 requests a run · 2741801b3f5a
}

// One request in flight: is a step slower, whatever the batch?
func ExampleCapacity_Serial() {
	p := benchtest.Capacity(14).Serial(chat)
	fmt.Println(p.Label(), p.Closed.InFlight, p.Requests)
	// Output: serial 1 30
}

// A third of the capacity. What the workload needs is set as in any point.
func ExampleCapacity_Quiet() {
	p := benchtest.Capacity(14).Quiet(chat)
	p.Cache = benchtest.ProvedCold
	fmt.Println(p)
	// Output: poisson 4.7/s, lengths 2048/256, 150 requests a run
}

// The knee, for assert.Sustained, Goodput and Attainment.
func ExampleCapacity_Knee() {
	p := benchtest.Capacity(14).Knee(chat)
	fmt.Println(p)
	// Output: poisson 12.3/s, lengths 2048/256, 2000 requests a run
}

func ExampleCapacity_String() {
	fmt.Println(benchtest.Capacity(0.85))
	// Output: 0.85 req/s
}

// A server that is known to run 64 sequences needs no climb.
func ExampleProbe() {
	probe := benchtest.Probe{Workload: chat, InFlight: 64}
	probed, err := benchtest.ProbeCapacity(context.Background(), model(), probe, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f req/s, %.0f output tok/s, steps %d\n", probed.Rate, probed.OutputTokens, len(probed.Levels))
	// Output:
	// 14.1 req/s, 3620 output tok/s, steps 0
}

func ExampleProbed() {
	found := benchtest.Probed{InFlight: 4, Rate: 0.1234, Low: 0.1201, High: 0.1267}
	fmt.Print(found)
	// Output:
	// capacity 0.123 req/s, 95 % interval 0.120 … 0.127 (t over 3 runs), 4 in flight
	// write    const capacity benchtest.Capacity = 0.12 // req/s
	//          and leave it: the rates follow from it, and a baseline is of one rate
	//          capacity.Serial(workload) // serial, closed loop, 30 requests a run
	//          capacity.Quiet(workload)  // poisson 0.04/s, 150 requests a run
	//          capacity.Knee(workload)   // poisson 0.106/s, 2000 requests a run
}

func ExampleProbed_String() {
	fmt.Print(benchtest.Probed{
		InFlight: 64, Rate: 14.11, Low: 13.42, High: 14.8, PromptTokens: 28_900, OutputTokens: 3_612,
		Levels: []benchtest.Level{{8, 5.05}, {16, 8.16}, {32, 11.39}, {64, 13.98}, {128, 14.13}},
		On:     []string{"vllm", "meta-llama/Meta-Llama-3-8B-Instruct", "1x H100 SXM 80GB"},
	})
	// Output:
	// capacity 14.1 req/s, 95 % interval 13.4 … 14.8 (t over 3 runs), 64 in flight, 28900 prompt and 3612 output tok/s
	// on       vllm, meta-llama/Meta-Llama-3-8B-Instruct, 1x H100 SXM 80GB
	// climb    8: 5.05, 16: 8.16, 32: 11.4, 64: 14.0, 128: 14.1 req/s
	// write    const capacity benchtest.Capacity = 14 // req/s
	//          and leave it: the rates follow from it, and a baseline is of one rate
	//          capacity.Serial(workload) // serial, closed loop, 30 requests a run
	//          capacity.Quiet(workload)  // poisson 4.7/s, 150 requests a run
	//          capacity.Knee(workload)   // poisson 12.3/s, 2000 requests a run
}

// The steps of a climb tell how throughput grows with the batch.
func ExampleLevel() {
	levels := []benchtest.Level{{InFlight: 8, Rate: 5.05}, {InFlight: 16, Rate: 8.16}}
	fmt.Printf("twice in flight, %.2f times the rate\n", levels[1].Rate/levels[0].Rate)
	// Output: twice in flight, 1.62 times the rate
}
