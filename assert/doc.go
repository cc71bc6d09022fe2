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
package assert

import (
	"flag"

	"github.com/openloop-go/openloop/ci"
)

func init() { ci.RegisterFlags(flag.CommandLine) }
