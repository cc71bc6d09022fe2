package steady

import (
	"fmt"
	"strconv"
	"time"
)

// Overload is what can be said of a load past saturation.
type Overload struct {
	// ClientLimit is the limit on the client's side that held back half of the
	// requests or more; 0 is none that did. The queue is then on that side, and
	// Capacity is what so many in flight come to, not what the engine can do.
	// Fewer are what any burst meets.
	ClientLimit int
	// Offered is the load λ and Capacity the rate μ at which requests left,
	// in requests a second.
	Offered, Capacity float64
	// Growth is λ − μ, by how many requests the backlog grew a second.
	Growth float64
	// Overshoot is (λ − μ)/μ.
	Overshoot float64
	// Duration is the mean length of the runs' windows. Every latency of such
	// a run grows with it.
	Duration time.Duration
}

// overload needs a growth above zero. A server that finished nothing is taken
// to have finished one request, so that the overshoot is a number.
func overload(series []Series, growth float64) *Overload {
	var seconds float64
	var windows time.Duration
	arrivals := 0
	for _, s := range series {
		arrivals += s.Arrivals
		windows += s.Window
	}
	seconds = windows.Seconds()
	left := max(1, float64(arrivals)-growth)
	return &Overload{
		Offered:   float64(arrivals) / seconds,
		Capacity:  left / seconds,
		Growth:    growth / seconds,
		Overshoot: growth / left,
		Duration:  windows / time.Duration(len(series)),
	}
}

// Wait is how long a request waits that arrives t after the overload began:
// (λ − μ)·t/μ. The engine cancels out: at a given overshoot it depends on t
// alone.
func (o Overload) Wait(t time.Duration) time.Duration {
	return time.Duration(o.Overshoot * float64(t))
}

// String is, for example, "the backlog grows by 0.80 req/s: 13.50 offered,
// 12.70 served, 6 % over capacity for 2m28s", and with a ClientLimit "… over what 4
// in flight come to for …".
func (o Overload) String() string {
	of := "capacity"
	if o.ClientLimit > 0 {
		of = fmt.Sprintf("what %d in flight come to", o.ClientLimit)
	}
	return fmt.Sprintf("the backlog grows by %.2f req/s: %.2f offered, %.2f served, %.0f %% over %s for %v",
		o.Growth, o.Offered, o.Capacity, 100*o.Overshoot, of, o.Duration.Round(time.Second))
}

// count is "1 run", "2,000 arrivals".
func count(n int, noun string) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if n != 1 {
		noun += "s"
	}
	return s + " " + noun
}
