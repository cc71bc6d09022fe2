package metric_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

const ms = time.Millisecond

// request is a request due at the given time, whose 101 tokens came one by
// one, the first after ttft and each other after gap.
func request(due, ttft, gap time.Duration) metric.Timeline {
	t := metric.Timeline{
		Phase: metric.Window, Scheduled: due, Sent: due, FirstToken: due + ttft, LastToken: due + ttft + 100*gap,
		Events: 101, TokenGaps: true, FirstTokens: 1, PromptTokens: 2048, OutputTokens: 101, CachedTokens: 0, AskedPrompt: 2048, AskedOutput: 101,
	}
	t.Closed = t.LastToken
	for range 100 {
		t.Gaps = append(t.Gaps, gap)
	}
	return t
}

// run is a run of 40 requests, two a second. Every fourth is slow to start.
func run() *metric.Record {
	r := &metric.Record{Schema: metric.Schema, PointName: "constant-2", Rate: 2, From: time.Second, To: 21 * time.Second}
	for i := range 40 {
		ttft := 100 * ms
		if i%4 == 3 {
			ttft = 700 * ms
		}
		r.Requests = append(r.Requests, request(time.Second+time.Duration(i)*500*ms, ttft, 10*ms))
	}
	r.Summarise()
	return r
}

func ExampleTimeline() {
	t := request(time.Second, 120*ms, 10*ms)
	// The driver was 20 ms late, and then the request waited 5 ms for a connection:
	// the latency from the schedule counts both.
	t.Sent, t.Connect = t.Sent+25*ms, 5*ms
	show := func(name string, v time.Duration, ok bool) { fmt.Println(name, v, ok) }
	print := func(name string, get func(*metric.Timeline) (time.Duration, bool)) {
		v, ok := get(&t)
		show(name, v, ok)
	}
	print("TTFT", (*metric.Timeline).TTFT)
	print("service TTFT", (*metric.Timeline).ServiceTTFT)
	print("lag", (*metric.Timeline).Lag)
	print("TPOT", (*metric.Timeline).TPOT)
	print("E2E", (*metric.Timeline).E2E)
	print("first content", (*metric.Timeline).FirstContentTime) // it was all reasoning
	print("left", (*metric.Timeline).End)
	fmt.Println("failed", t.Failed())
	// Output:
	// TTFT 120ms true
	// service TTFT 100ms true
	// lag 20ms true
	// TPOT 10ms true
	// E2E 1.12s true
	// first content 0s false
	// left 2.12s true
	// failed false
}

func ExampleTimeline_HeldBack() {
	at := time.Second
	letGo := metric.Timeline{Scheduled: at, Released: at + time.Second, Sent: at + time.Second}
	never := metric.Timeline{Scheduled: at, Failure: metric.Unfinished}
	onItsWay := metric.Timeline{Scheduled: at, Failure: metric.Unfinished, Closed: at + time.Minute} // waited for a connection
	fmt.Println(letGo.HeldBack(), never.HeldBack(), onItsWay.HeldBack())
	// Output: true true false
}

func ExampleTimeline_SummariseGaps() {
	t := metric.Timeline{Gaps: []time.Duration{10 * ms, 0, 35 * ms, 10 * ms}}
	t.SummariseGaps()
	fmt.Println(t.GapMax, t.ZeroGaps)
	// Output:
	// 35ms 1
}

func ExampleRecord_Value() {
	r := run()
	for _, name := range []string{"p50-ttft-sec", "p90-ttft-sec", "p50-tpot-sec", "completed-req/s", "error-rate"} {
		v, err := r.Value(name)
		fmt.Println(name, v, err)
	}
	_, err := r.Value("p99-ttft-sec")
	fmt.Println(err)
	for i := range r.Requests {
		r.Requests[i].OutputTokens = -1 // the server reports no usage
	}
	_, err = r.Value("p50-tpot-sec")
	fmt.Println(err)
	// Output:
	// p50-ttft-sec 0.1 <nil>
	// p90-ttft-sec 0.7 <nil>
	// p50-tpot-sec 0.01 <nil>
	// completed-req/s 1.9 <nil>
	// error-rate 0 <nil>
	// p99 of 40 values is their maximum: needs 1,000
	// p50-tpot-sec is absent: none of 40 successful requests has it (one token each, all in one read, or no count of tokens from the server)
}

func ExampleTooFew() {
	_, err := run().Value("p99-ttft-sec")
	if few := (*metric.TooFew)(nil); errors.As(err, &few) {
		fmt.Printf("have %d, need %d\n", few.N, few.Need)
	}
	// Output:
	// have 40, need 1000
}

func ExampleAbsent() {
	r := run()
	r.Requests = nil
	_, err := r.Value("p50-ttft-sec")
	if absent := (*metric.Absent)(nil); errors.As(err, &absent) {
		fmt.Println(absent.Why)
	}
	// Output:
	// the window has no requests
}

func ExampleRecord_Goodput() {
	r := run()
	slo := metric.SLO{TTFT: 500 * ms, TPOT: 40 * ms}
	good, total := r.Attainment(slo)
	goodput, err := r.Goodput(slo)
	fmt.Printf("%v: %d of %d, %v req/s, %v\n", slo, good, total, goodput, err)

	r.InFlight = 64
	_, err = r.Goodput(slo)
	fmt.Println(err)
	// Output:
	// TTFT ≤ 500ms, TPOT ≤ 40ms: 30 of 40, 1.5 req/s, <nil>
	// metric: no goodput of a closed loop of 64 in flight: its load follows the server; use an open loop
}

func ExampleSLO() {
	slo := metric.SLO{TTFT: 500 * ms, TPOT: 8 * ms}
	quick, slow := request(time.Second, 100*ms, 5*ms), request(time.Second, 100*ms, 10*ms)
	fmt.Println(slo, slo.Good(&quick), slo.Good(&slow))
	fmt.Println(metric.SLO{TTFT: -1}.Validate())
	// Output:
	// TTFT ≤ 500ms, TPOT ≤ 8ms true false
	// metric: SLO.TTFT must not be negative, got -1ns: zero switches it off
}

func ExampleRecord_Counted() {
	r := run()
	r.From, r.To = 2*time.Second, 4*time.Second
	for _, t := range r.Counted() {
		fmt.Println(t.Scheduled)
	}
	// Output:
	// 2s
	// 2.5s
	// 3s
	// 3.5s
}

func ExampleRecord_InFlightAt() {
	r := run()
	fmt.Println(r.InFlightAt(time.Second), r.InFlightAt(4*time.Second))
	// Output:
	// 0 3
}

func ExampleRecord_Valid() {
	r := run()
	r.Problems = append(r.Problems, metric.Problem{Kind: "client-limited", Text: "lag p99 9ms, limit 5ms: use a host with idle CPUs"})
	fmt.Println(r.Open(), r.Valid(), r.Problems[0].Text)
	// Output:
	// true false lag p99 9ms, limit 5ms: use a host with idle CPUs
}

func ExampleRecord_Summarise() {
	r := run()
	r.Summarise()
	for i := range r.Requests {
		r.Requests[i].Gaps = nil // no longer needed
	}
	v, err := r.Value("max-itl-sec")
	fmt.Println(r.Gaps.N, v, err, r.GapsAreTokens())
	// Output:
	// 4000 0.01 <nil> true
}
