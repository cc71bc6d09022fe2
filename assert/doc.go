// Package assert judges measured runs inside a test: it decides, and words
// the failure. It measures nothing, except that NoRegression and NotSlower may
// ask for more runs until their verdict is clear.
//
// Every assertion pools the runs it is given, reports false when it fails and
// says so by t.Errorf: what, by how much, with which certainty, on which
// runs, what to do. A green verdict is logged with the same numbers where t
// can log. The twins in package require stop the test instead.
//
// Nothing passes by default. No runs, runs that cannot be trusted, a value
// that is missing, a bound that cannot fail, a latency on a queue that grows:
// each is a failure with its own words.
//
// # What is asked at which load
//
//	load                  asked there                     refused there
//	one in flight         NoRegression: p50 TPOT and E2E  Sustained, Goodput: there
//	(Capacity.Serial)     gated, TTFT and tails watched   is no schedule to keep up
//	                                                      with
//	a third of capacity   NoRegression: the same          throughput: it is the
//	(Capacity.Quiet)                                      offered load echoed back
//	near the knee         Sustained, Goodput, Attainment, a latency while the queue
//	(Capacity.Knee)       Latency; NoRegression with a    is undecided, a p99 of
//	                      margin that the noise resolves, fewer than 1,000 requests
//	                      and of goodput (Point.SLO)
//	past saturation       Sustained, which fails          every latency
//	closed, more than     NoRegression of metrics by name what is not named
//	one in flight
//
// Errors, prompt and output lengths and the warmth of the cache are guarded at
// every load. A margin on p50 TPOT stands for less of a slowdown the nearer the
// load comes to the capacity (stat.Load): where the point carries its capacity,
// NoRegression says for how much.
package assert

import (
	"flag"

	"github.com/openloop-go/openloop/ci"
)

func init() { ci.RegisterFlags(flag.CommandLine) }
