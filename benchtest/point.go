package benchtest

import (
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// SLO is the service-level objective of one request.
type SLO = metric.SLO

// Workload makes the requests of a run. Request i must depend on nothing but
// its arguments: shape decides lengths and what shares a prefix with what,
// and is the same in every arm; content decides the tokens themselves, and is
// never the same twice on one start of an engine.
//
// Request may be called from several goroutines at once.
//
// A workload may also have Validate() error, called before anything starts,
// and String() string, which is part of the point's identity.
type Workload interface {
	// Request makes request i, which belongs to the caller.
	Request(i int, shape, content uint64) engines.Request
}

// Closed is a closed loop: a fixed number of requests in flight. The zero
// value is off.
type Closed struct {
	// InFlight is the number of requests in flight; 1 is serial.
	InFlight int
}

// Point is all that defines a measurement. It is validated whole before
// anything starts.
type Point struct {
	// Name is the short name in file names and reports; empty derives one
	// from the load, as in "poisson-4".
	Name string
	// Workload makes the requests.
	Workload Workload

	// Arrivals is the open loop's arrival process. Exactly one of Arrivals
	// and Closed is set.
	Arrivals arrival.Process
	Closed   Closed

	// Requests is the number of requests in the window; Window its length.
	// Exactly one is set. A window closes at the next scheduled arrival.
	Requests int
	Window   time.Duration

	// Warmup and Settle are numbers of requests before the window, in
	// neither count of it. Zero means max(10 % of the window's requests, 50),
	// in a closed loop also at least four for each slot; negative means none.
	// A Settle, or a Warmup with no settle after it, that turns out shorter
	// than three mean request durations makes the run invalid, with the value
	// to set.
	Warmup, Settle int

	// Drain bounds the wait for the window's last requests. Zero is 60 s. An
	// engine from which no event comes for so long, and 10 s at least, while
	// requests are in flight, hangs: it ends the measurement.
	Drain time.Duration

	// Cache is what the point requires of the prefix cache.
	Cache Cache
	// SharedTokens is the share of prompt tokens that the workload means to
	// be served from the cache, from 0 to 1.
	SharedTokens float64

	// ClientLimit is a client-side limit of requests in flight, as a gateway
	// might have; the wait for a slot counts, since latency runs from the
	// schedule. Zero is no limit.
	ClientLimit int
	// MaxInFlight is a safety cap: reaching it makes the run invalid. Zero is
	// no cap.
	MaxInFlight int

	// ProbeRate is the number of probes a second: requests of a short prompt
	// and a single token, sent beside the load at equal gaps, from its first
	// arrival to the window's end, and outside of every limit. They show what
	// a newcomer waits, whatever the workload's lengths and the client's
	// limits are. They are in Record.Probes and in the metrics whose names
	// begin so, as p50-probe-ttft-sec and probe-error-rate, and in no other,
	// nor in goodput, nor in any count. Zero sends none; at most 100.
	ProbeRate float64

	// Runs is the number of runs that Measure makes: zero is 3, the first
	// look of the gate.
	Runs int
	// Starts is the number of engine starts that the runs are spread over:
	// zero is 1. More need an engine that can be restarted.
	Starts int

	// Seed varies the arrivals and lengths of the whole point; zero is the
	// usual ones.
	Seed uint64

	// Capacity is the rate that the engine is known to sustain with this
	// workload, in requests a second, as a closed-loop probe found it. A load
	// of at most 0.7 of it counts as quiet, where latencies are judged even
	// if the stability is undecided. Zero is unknown. It changes nothing that
	// is measured and is no part of the point's identity.
	Capacity float64

	// SLO is the objective of a request at this load, as in
	// SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}. With it
	// the goodput and the attainment of each run are metrics like others
	// ("goodput-req/s", "attainment") and kept in the baseline; goodput is gated
	// by default, attainment by name. The zero value is none. It changes nothing that is measured and
	// is no part of the point's identity.
	SLO SLO

	// Limits are the limits of validity; zero fields are the defaults of
	// DefaultLimits. They are no part of the point's identity.
	Limits Limits
}

// Cache is what a point requires of the prefix cache.
type Cache string

const (
	// Cold, the zero value: prompts are new content and the cache is flushed
	// where it can be; a run that is seen to be warmer than SharedTokens is
	// invalid, one whose coldness cannot be seen gets a warning.
	Cold Cache = ""
	// ProvedCold: as Cold, and a run whose coldness cannot be proved is
	// invalid.
	ProvedCold Cache = "proved-cold"
	// Warm: the cache is left as it is.
	Warm Cache = "warm"
)

// Limits decide whether a run can be trusted. A zero field is the default;
// to switch a limit off set it to a value that cannot be reached.
type Limits struct {
	// ErrorRate is the largest share of failed requests. Default 0.01.
	ErrorRate float64
	// Achieved is the smallest achieved/offered rate. Default 0.99.
	Achieved float64
	// Lag is the largest p99 of sent − scheduled. Waits for a connection are not
	// in it: how long those take, and how many there are, depends on the server
	// and on the way to it. Default 5 ms, or 1 % of the SLO's smaller limit on
	// TTFT and E2E where that is less, but not less than 0.5 ms.
	Lag time.Duration
	// Wake is the largest p99 of how late this process did what it had to: of
	// how long its goroutines waited to run; in a closed loop, and with a
	// ClientLimit, of how long bytes lay here unread; and, where the engine does
	// not tell how late events were stamped, or requests open connections as a
	// rule, of how late the process woke up. Hosts with idle CPU show more of it
	// now and then than requests are late, so that it has a limit of its own.
	// Default 5 ms, and Lag where that is set.
	Wake time.Duration
	// Stamp is the largest p99 of how late events were stamped, which is what
	// gaps are wrong by, and TTFT where the first event shares its time, if the
	// engine's transport has the time at which bytes came and so can tell. Bytes
	// that were read late have their right time all the same, but for events that
	// were read together with a later one and share its. Default 1 ms, and Lag
	// where that is set.
	Stamp time.Duration
	// Cached is the share of prompt tokens allowed from the cache above
	// SharedTokens. Default 0.01.
	Cached float64
	// Length is the relative difference allowed between the lengths asked
	// for and those served. Default 0.02.
	Length float64
	// ZeroGaps is the share of gaps of zero above which a stream counts as
	// buffered. In a run in which this process itself read late, which puts events
	// together too, only the gaps of requests that were read on time count; where
	// these are fewer than half of the requests, or nobody knows which they are,
	// whether the stream is buffered is not judged. Default 0.90.
	ZeroGaps float64
	// Shared is the share of what the server served from before the run's first
	// request until after its last, by its own counters, that may have been
	// somebody else's: of prompt and of output tokens, of which as many as one
	// request has are allowed always, since servers count a few that they do not
	// send; and of requests, of which 5 % and five are. Default 0.01; 1 is off.
	Shared float64
}
