package metric_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func ExamplePooledValue() {
	fast, slow := run(), run()
	slow.Requests = slow.Requests[:4]
	for i := range slow.Requests {
		slow.Requests[i].FirstToken += 2 * time.Second
		slow.Requests[i].LastToken += 2 * time.Second
	}
	both, _ := metric.PooledValue("p90-ttft-sec", fast, slow)
	max, _ := metric.PooledValue("max-ttft-sec", fast, slow)
	fmt.Println(both, max)
	// Output:
	// 0.7 2.7
}

func ExampleQuantile() {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	fmt.Println(metric.Quantile(values, 0.5))
	fmt.Println(metric.Quantile(values, 0.9))
	fmt.Println(metric.Quantile(values, 0.95))
	// Output:
	// 5 <nil>
	// 9 <nil>
	// 0 p95 of 10 values is their maximum: needs 20
}

func ExampleLookup() {
	d, _ := metric.Lookup("p50-tpot-sec")
	fmt.Println(d.Unit, d.Better, d.Scale, d.Note)
	fmt.Println(d.Words(0.0058, 0.0064))
	_, ok := metric.Lookup("p42-tpot-sec")
	fmt.Println(ok)
	// Output:
	// sec lower ratio (last − first token event) ÷ (tokens − tokens in the first event)
	// worse
	// false
}

func ExampleNames() {
	for _, name := range metric.Names() {
		if strings.HasPrefix(name, "p50") {
			fmt.Println(name)
		}
	}
	// Output:
	// p50-ttft-sec
	// p50-service-ttft-sec
	// p50-tpot-sec
	// p50-itl-sec
	// p50-e2e-sec
	// p50-lag-sec
	// p50-probe-ttft-sec
}

func ExampleChange() {
	change, _ := metric.Change(62.79, 57.80)
	fmt.Printf("%+.1f %%\n", 100*change)
	_, err := metric.Change(0, 3)
	fmt.Println(err)
	// Output:
	// -7.9 %
	// metric: no relative change from zero to 3: compare the difference
}

func ExampleHash() {
	fmt.Println(metric.Hash([]metric.Pair{{Key: "arrivals", Value: "poisson 4/s"}, {Key: "requests", Value: "300"}}))
	// Output:
	// 2811a5c435c6
}

func ExampleReadRecords() {
	var file bytes.Buffer
	if err := metric.WriteRecords(&file, run(), run()); err != nil {
		fmt.Println(err)
	}
	records, err := metric.ReadRecords(&file)
	fmt.Println(len(records), records[1].PointName, err)
	// Output:
	// 2 constant-2 <nil>
}

func ExampleCorrupt() {
	file := strings.NewReader(`{"schema":1,"rate":NaN}`)
	_, err := metric.ReadRecords(file)
	if corrupt := (*metric.Corrupt)(nil); errors.As(err, &corrupt) {
		fmt.Println(corrupt.Line, corrupt.Field)
	}
	fmt.Println(err)
	// Output:
	// 1 rate
	// corrupt record: line 1: rate: "NaN" is no JSON value
}

// A run whose client was in the way is invalid; one whose client nobody could
// watch is not, and says so.
func ExampleClient() {
	r := metric.Record{Client: metric.Client{
		Verdict: metric.ClientUnknown,
		Reasons: []string{"how long goroutines of this process waited to run was not read at both edges of the window"},
	}}
	switch r.Client.Verdict {
	case metric.ClientOK, metric.ClientLimited:
		fmt.Println(r.Client.Verdict)
	case metric.ClientUnknown:
		_, known := r.Client.Readings["wake_p99_sec"]
		fmt.Println("unknown; a reading that is absent is not zero:", known)
	}
	// Output: unknown; a reading that is absent is not zero: false
}

// A load is quiet by what is known of the engine's capacity, never by default.
func ExampleRecord_Quiet() {
	for _, r := range []metric.Record{{Rate: 4}, {Rate: 4, Capacity: 14}, {Rate: 12.5, Capacity: 14}, {InFlight: 1}} {
		fmt.Println(r.Quiet())
	}
	// Output:
	// false
	// true
	// false
	// true
}
