package steady_test

import (
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
)

// run offers so many requests a second, at random, to a server that takes one
// at a time and 100 ms for each: its capacity is 10 a second. The window holds
// 2,000 arrivals after 400 of settling.
func run(seed uint64, rate float64) *metric.Record {
	r := &metric.Record{}
	var free time.Duration
	for due := range (arrival.Poisson{Rate: rate}).Times(seed) {
		switch len(r.Requests) {
		case 400:
			r.From = due
		case 2400:
			r.To = due
			return r
		}
		free = max(free, due) + 100*time.Millisecond
		r.Requests = append(r.Requests, metric.Timeline{Scheduled: due, FirstToken: free, LastToken: free, OutputTokens: 1})
	}
	return r
}

func ExampleJudgeRecords() {
	for _, rate := range []float64{4, 9.5, 10.3, 12} {
		one, _ := steady.JudgeRecords(run(1, rate))
		three, _ := steady.JudgeRecords(run(1, rate), run(2, rate), run(3, rate))
		fmt.Println(rate, "req/s")
		fmt.Println("\t" + one.String())
		fmt.Println("\t" + three.String())
	}
	// Output:
	// 4 req/s
	// 	sustained: the number in flight returns to a level, Dickey–Fuller t -4.81, below -2.92 (1 run, 2,000 arrivals)
	// 	sustained: the number in flight returns to a level, Dickey–Fuller t -6.28, below -2.34 (3 runs, 6,000 arrivals)
	// 9.5 req/s
	// 	sustained: the backlog grew by at most 3.4 % of the arrivals, tolerated are 5 % (1 run, 2,000 arrivals)
	// 	sustained: the number in flight returns to a level, Dickey–Fuller t -2.96, below -2.34 (3 runs, 6,000 arrivals)
	// 10.3 req/s
	// 	growing: the backlog grows by 0.81 req/s: 10.81 offered, 10.00 served, 8 % over capacity for 3m5s; z 3.4, above 1.96 (1 run, 2,000 arrivals)
	// 	growing: the backlog grows by 0.46 req/s: 10.46 offered, 10.00 served, 5 % over capacity for 3m11s; z 3.4, above 1.96 (3 runs, 6,000 arrivals)
	// 12 req/s
	// 	growing: the backlog grows by 2.59 req/s: 12.59 offered, 10.01 served, 26 % over capacity for 2m39s; z 9.3, above 1.96 (1 run, 2,000 arrivals)
	// 	growing: the backlog grows by 2.19 req/s: 12.19 offered, 10.00 served, 22 % over capacity for 2m44s; z 13.7, above 1.96 (3 runs, 6,000 arrivals)
}

func ExampleJudge() {
	s, err := steady.Of(run(1, 9.5))
	if err != nil {
		fmt.Println(err)
	}
	v, err := steady.Judge(s)
	fmt.Println(v.State, err)
	// Output:
	// sustained <nil>
}

func ExampleOf() {
	closed := run(1, 4)
	closed.InFlight = 8
	_, err := steady.Of(closed)
	fmt.Println(err)
	// Output:
	// steady: a closed loop has no queue that could grow: its load follows the server; use an open loop
}

func ExampleVerdict_ArrivalsNeeded() {
	v, _ := steady.JudgeRecords(run(1, 9.5))
	for _, rho := range []float64{1.02, 1.05, 1.1, 1.2} {
		fmt.Println(rho, v.ArrivalsNeeded(rho))
	}
	// Output:
	// 1.02 19739
	// 1.05 3347
	// 1.1 919
	// 1.2 274
}

func ExampleOverload() {
	v, _ := steady.JudgeRecords(run(1, 12), run(2, 12), run(3, 12))
	fmt.Println(v.Overload)
	for _, t := range []time.Duration{time.Minute, 10 * time.Minute} {
		fmt.Println("a request after", t, "waits", v.Overload.Wait(t).Round(time.Second))
	}
	// Output:
	// the backlog grows by 2.19 req/s: 12.19 offered, 10.00 served, 22 % over capacity for 2m44s
	// a request after 1m0s waits 13s
	// a request after 10m0s waits 2m11s
}

func ExampleRelaxation() {
	for _, rho := range []float64{0.5, 0.8, 0.9, 0.95} {
		fmt.Printf("%.2f %.0f\n", rho, steady.Relaxation(rho))
	}
	// Output:
	// 0.50 6
	// 0.80 72
	// 0.90 342
	// 0.95 1482
}

func ExampleCut() {
	fmt.Println(steady.Cut(2000, 20, 0.5))  // a tenth of the arrivals
	fmt.Println(steady.Cut(2000, 20, 0.9))  // the queue's relaxation
	fmt.Println(steady.Cut(2000, 120, 0.9)) // three request durations
	// Output:
	// 200
	// 342
	// 360
}
