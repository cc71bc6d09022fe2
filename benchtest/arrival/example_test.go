package arrival_test

import (
	"fmt"
	"iter"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// print shows the first three times of a schedule.
func print(p arrival.Process) {
	fmt.Println(arrival.String(p))
	n := 0
	for t := range p.Times(1) {
		fmt.Println("\t" + t.Round(time.Millisecond).String())
		if n++; n == 3 {
			return
		}
	}
}

func ExamplePoisson() {
	print(arrival.Poisson{Rate: 4})
	// Output:
	// poisson 4/s
	// 	190ms
	// 	581ms
	// 	585ms
}

func ExampleConstant() {
	print(arrival.Constant{Rate: 4})
	// Output:
	// constant 4/s
	// 	0s
	// 	250ms
	// 	500ms
}

func ExampleGamma() {
	print(arrival.Gamma{Rate: 4, Burstiness: 0.25})
	// Output:
	// gamma 4/s burstiness 0.25
	// 	0s
	// 	101ms
	// 	107ms
}

func ExampleRamp() {
	ramp := arrival.Ramp{From: 2, To: 8, Over: 30 * time.Second}
	print(ramp)
	fmt.Println("mean rate over the ramp:", ramp.MeanRate(30*time.Second))
	// Output:
	// ramp 2/s to 8/s over 30s
	// 	374ms
	// 	1.102s
	// 	1.109s
	// mean rate over the ramp: 5
}

func ExampleSteps() {
	print(arrival.Steps{{Rate: 4, For: time.Minute}, {Rate: 0, For: 10 * time.Second}, {Rate: 8}})
	// Output:
	// steps 4/s for 1m0s, 0/s for 10s, then 8/s
	// 	190ms
	// 	581ms
	// 	585ms
}

// Pairs is a process of one's own: two requests at a time, as a client that
// sends everything twice would.
type Pairs struct{ arrival.Poisson }

func (p Pairs) Times(seed uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for t := range p.Poisson.Times(seed) {
			if !yield(t) || !yield(t) {
				return
			}
		}
	}
}

func (p Pairs) MeanRate(over time.Duration) float64 { return 2 * p.Poisson.MeanRate(over) }
func (p Pairs) String() string                      { return "pairs of " + p.Poisson.String() }

func ExampleProcess() {
	print(Pairs{arrival.Poisson{Rate: 4}})
	// Output:
	// pairs of poisson 4/s
	// 	190ms
	// 	190ms
	// 	581ms
}

func ExampleValidate() {
	fmt.Println(arrival.Validate(arrival.Gamma{Rate: -1, Burstiness: 0}))
	// Output:
	// arrival: Gamma.Rate must be positive and at most 1,000,000/s, got -1: set arrivals per second
	// arrival: Gamma.Burstiness must be at least 0.01 and finite, got 0: 1 is Poisson, lower is burstier
}

func ExampleString() {
	fmt.Println(arrival.String(arrival.Steps{{Rate: 4, For: time.Minute}, {Rate: 8}}))
	// Output:
	// steps 4/s for 1m0s, then 8/s
}

func ExampleSelfTest() {
	// A sender that waits one gap after each send, and takes 25 ms to send,
	// offers less than it was asked for.
	var sent []time.Duration
	var last, clock time.Duration
	for t := range (arrival.Poisson{Rate: 10}).Times(1) {
		clock += t - last + 25*time.Millisecond
		last = t
		if sent = append(sent, clock); len(sent) == 2000 {
			break
		}
	}
	fmt.Println(arrival.SelfTest(sent, arrival.Poisson{Rate: 10}))
	// Output:
	// arrival: poisson 10/s asks for 2398.1 arrivals by the schedule's last one, which is number 2000: chance explains a difference of 337.5, not 398.1
}

func ExampleGapCV2() {
	fmt.Println(arrival.GapCV2([]time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}))
	// Output:
	// 0
}

func ExampleBurst() {
	// Ten a second as planned, and as sent by a client that was stopped for
	// 300 ms and then made up for it.
	planned := []time.Duration{0, 100, 200, 300, 400, 500}
	sent := []time.Duration{0, 100, 400, 400, 400, 500}
	for i := range planned {
		planned[i] *= time.Millisecond
		sent[i] *= time.Millisecond
	}
	fmt.Println(arrival.Burst(planned, 100*time.Millisecond), arrival.Burst(sent, 100*time.Millisecond))
	// Output:
	// 1 3
}
