package benchtest

import (
	"fmt"
	"strconv"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// The loads that a capacity stands for.
const (
	// quietShare of the capacity is the load at which engines are compared: an
	// open loop that has a batch, and next to no queue. 5 % of noise between
	// runs are 2.5 % there (at the knee 10 %).
	quietShare = 1.0 / 3
	// kneeShare is the load at which an SLO is in question: the last one
	// before the queue takes over. Runs of 2,000 requests are shown to be
	// sustained there, at 0.95 most are not.
	kneeShare = 0.88

	serialRequests, serialWarmup = 30, 3
	quietRequests                = 150
	kneeRequests, kneeSettle     = 2000, 400
	quietDigits, kneeDigits      = 2, 3
	// writtenDigits are those of a capacity that is worth writing down: a probe
	// knows the third no better.
	writtenDigits = 2
)

// Capacity is the rate, in requests a second, that one engine can sustain with
// one workload, as a number in the source of a test:
//
//	const capacity benchtest.Capacity = 14 // as ProbeCapacity found it
//
// It makes the three points that questions are asked at: Serial and Quiet for
// "is the engine slower?", Knee for "does it hold its SLO?".
//
// It is written down, and not probed when the test runs, because a load that
// follows the engine hides what the engine lost: an engine 10 % slower would be
// probed 10 % slower, be offered 10 % less, and look about as it did. It would
// also be another point every day, since the rate is part of a point's hash, and
// so have no baseline. So ProbeCapacity returns what it found and the line to
// write, and nothing that points can be made of. Write it with two digits, once
// for a class of machines, and change it as you change a baseline: on purpose,
// and together with it.
//
// Zero, or less, is no capacity: its points are not valid and say so.
type Capacity float64

// Serial is the point of one request in flight: 30 requests a run after 3 to
// warm up. There is no queue and no batch, so it is the quietest point, and the
// only one where a cost that shows in small batches is not diluted. It does not
// depend on the capacity, and is valid without.
func (c Capacity) Serial(w Workload) Point {
	return Point{
		Workload: w, Closed: Closed{InFlight: 1},
		Requests: serialRequests, Warmup: serialWarmup, Settle: -1,
	}
}

// Quiet is the point of Poisson arrivals at a third of the capacity, rounded
// to two digits: 150 requests a run. Batches form there and a queue hardly
// does, so a slowdown of the engine shows in full, and the noise of a run stays
// near the engine's own; twice the requests take more than half as long again
// and catch no more of a slowdown. (A rate of errors does take requests: of
// 450, one in a hundred is four or five.) The point carries the capacity, so
// that its latencies are judged although 150 arrivals may leave its stability
// undecided.
func (c Capacity) Quiet(w Workload) Point {
	return Point{
		Workload: w, Arrivals: arrival.Poisson{Rate: c.share(quietShare, quietDigits)},
		Requests: quietRequests, Capacity: float64(c),
	}
}

// Knee is the point of Poisson arrivals at 0.88 of the capacity, rounded to
// three digits: 2,000 requests a run after 400 to settle, since a queue takes
// 230 arrivals there to forget how it began. It is for stability, goodput and
// attainment. Latencies move twice as much there as the engine does, and vary
// between runs more than that: compare engines at the other two.
func (c Capacity) Knee(w Workload) Point {
	return Point{
		Workload: w, Arrivals: arrival.Poisson{Rate: c.share(kneeShare, kneeDigits)},
		Requests: kneeRequests, Settle: kneeSettle, Capacity: float64(c),
	}
}

// String is, for example, "14 req/s".
func (c Capacity) String() string {
	return fmt.Sprintf("%s req/s", strconv.FormatFloat(float64(c), 'g', -1, 64))
}

// share is a part of the capacity, rounded: a decimal that is written as it is
// meant, in the point's name and hash.
func (c Capacity) share(part float64, digits int) float64 {
	return rounded(float64(c)*part, digits)
}

// rounded is x with so many significant digits.
func rounded(x float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x // NaN and infinities, which no point accepts
	}
	return r
}
