package benchtest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
)

// Probes show what a newcomer waits: here, at a load near the knee with a
// limit of 40 requests in flight on this side, which the load's own TTFT
// counts and a probe's does not.
func ExamplePoint_probes() {
	p := benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 12.5}, Requests: 500, Settle: 100, Runs: 1,
		ClientLimit: 40, ProbeRate: 2,
	}
	runs, err := benchtest.Run(context.Background(), model(), p, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"p50-ttft-sec", "p50-probe-ttft-sec", "probe-error-rate"} {
		v, err := runs.Records[0].Value(name)
		fmt.Printf("%s %.3f %v\n", name, v, err)
	}
	// Output:
	// p50-ttft-sec 1.502 <nil>
	// p50-probe-ttft-sec 0.016 <nil>
	// probe-error-rate 0.000 <nil>
}

// How true this side of a run was is in its record, in numbers and in words.
func ExampleRun_client() {
	p := quiet
	p.Runs = 1
	runs, err := benchtest.Run(context.Background(), model(), p, benchtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client := runs.Records[0].Client
	fmt.Println(client.Verdict)
	for _, why := range client.Reasons {
		fmt.Println(why)
	}
	fmt.Printf("planned and sent: burst %.2f and %.2f, dispersion %.2f and %.2f\n",
		client.Readings["planned_burst"], client.Readings["sent_burst"], runs.Records[0].GapCV2, client.Readings["sent_gap_cv2"])
	_, known := client.Readings["process_cpus"]
	fmt.Println("CPU time is known:", known)
	// Output:
	// ok
	// requests left 0s late (p99 of 300), limit 5ms
	// achieved ÷ offered is 1.0000, want at least 0.990
	// planned and sent: burst 10.10 and 10.10, dispersion 0.71 and 0.71
	// CPU time is known: false
}

// On a real clock a run that is invalid only because this host was late is made
// again, as in a test, where that is asked for. In virtual time no host is late.
func ExampleRuns_replaced() {
	p := quiet
	p.Runs = 1
	runs, err := benchtest.Run(context.Background(), model(), p, benchtest.Options{Again: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs.Replaced {
		fmt.Printf("run %d was made again: %s\n", r.Run+1, r.Problems[0].Text)
	}
	fmt.Println(len(runs.Records), "run that counts,", len(runs.Replaced), "set aside")
	// Output: 1 run that counts, 0 set aside
}
