package regressions_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/regressions"
)

// said is what a gate says of a build.
type said struct {
	status regressions.Status
	why    string
	// seconds are the engine's, of the candidate alone, up to the verdict.
	seconds float64
	// runs is the number of the candidate's runs at the last of its points.
	runs int
}

// red reports that the gate says that something is wrong, not merely that it
// cannot tell.
func (s said) red() bool { return s.status == regressions.Regressed || s.status == regressions.Invalid }

// contender judges a build against the one of the baseline.
type contender struct {
	name string
	says func(ctx context.Context, base, cand *build) said
}

// job is a `go test` of three tests, of which the first red one ends it: is
// the engine slower, with one request in flight and at a third of capacity,
// and does it still hold its objectives near the knee?
type job struct {
	gate regressions.Gate
	// goodput is the least that the build must reach at the knee, in requests
	// a second, as its owner has set it.
	goodput float64
	slo     metric.SLO
	// starts is over how many starts of the engine the baseline's runs are
	// spread; zero is baselineStarts.
	starts int
}

// objective is what the users of the engine are promised.
var objective = metric.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}

// The baseline as NoRegression stores it, and over how many starts a candidate
// is spread from its second look on.
const (
	baselineRuns    = 12
	baselineStarts  = 2
	candidateStarts = 2
)

func (j job) says(ctx context.Context, base, cand *build) said {
	var all said
	for _, test := range []func(context.Context, *build, *build) said{
		func(ctx context.Context, base, cand *build) said { return j.noRegression(ctx, serial, base, cand) },
		func(ctx context.Context, base, cand *build) said { return j.noRegression(ctx, third, base, cand) },
		func(ctx context.Context, _, cand *build) said { return j.holds(ctx, cand) },
	} {
		s := test(ctx, base, cand)
		s.seconds += all.seconds
		if s.red() {
			return s
		}
		if all.status == regressions.Inconclusive {
			s.status, s.why = all.status, all.why
		}
		all = s
	}
	return all
}

// noRegression is assert.NoRegression without a file.
func (j job) noRegression(ctx context.Context, l load, base, cand *build) said {
	stored, err := base.measure(ctx, l, baselineRuns, cmp.Or(j.starts, baselineStarts))
	if err != nil {
		panic(err)
	}
	arm, err := regressions.FromRecords(stored, scored)
	if err != nil {
		panic(err)
	}
	for n, starts := j.firstLook(), 1; ; starts = candidateStarts {
		records, err := cand.measure(ctx, l, n, starts)
		if s, bad := unsound(l, records, err); bad {
			return s
		}
		now, err := regressions.FromRecords(records, scored)
		if err != nil {
			return said{regressions.Invalid, err.Error(), seconds(records), n}
		}
		v := regressions.Judge(&regressions.Baseline{Arm: arm}, now, j.gate)
		if v.NextLook <= n {
			return said{v.Status, fmt.Sprintf("%s: %s", l.name, v.Reason), seconds(records), n}
		}
		n = v.NextLook
	}
}

// scored are the metrics taken from the runs of the quiet loads.
var scored = []string{
	"p50-tpot-sec", "p50-e2e-sec", "p50-ttft-sec", "p95-tpot-sec", "p95-ttft-sec", "p95-e2e-sec", "p99-itl-sec", "max-itl-sec", "max-ttft-sec",
	"error-rate", "mean-output-tokens", "mean-prompt-tokens", "cached-share",
}

// holds are assert.Valid, Sustained and Goodput near the knee.
func (j job) holds(ctx context.Context, cand *build) said {
	records, err := cand.measure(ctx, knee, 3, 1)
	if s, bad := unsound(knee, records, err); bad {
		return s
	}
	var t spoken
	runs := &benchtest.Runs{Records: records}
	s := said{status: regressions.Pass, seconds: seconds(records)}
	if !assert.Goodput(&t, runs, j.slo, j.goodput) {
		s.status = regressions.Regressed
	} else if !assert.Sustained(&t, runs) {
		// Only Goodput refuses a queue that grows.
		s.status = regressions.Inconclusive
	}
	s.why = fmt.Sprintf("%s: %s", knee.name, t.first())
	return s
}

// unsound are runs that no assertion is made on: what assert.Valid refuses, and
// a queue that grows where the baseline's did not.
func unsound(l load, records []*metric.Record, err error) (said, bool) {
	if err != nil {
		s := said{status: regressions.Invalid, why: err.Error()}
		if len(records) > 0 {
			s.seconds = seconds(records)
		}
		return s, true
	}
	s := said{status: regressions.Invalid, seconds: seconds(records), runs: len(records)}
	var t spoken
	if !assert.Valid(&t, &benchtest.Runs{Records: records}) {
		s.why = fmt.Sprintf("%s: %s", l.name, t.first())
		return s, true
	}
	if records[0].Open() {
		if v, err := steady.JudgeRecords(records...); err != nil || v.State == steady.Growing {
			s.status, s.why = regressions.Regressed, fmt.Sprintf("%s: %v", l.name, v)
			return s, true
		}
	}
	return said{}, false
}

// spoken is a test that keeps what assertions say.
type spoken struct{ text string }

func (s *spoken) Errorf(format string, args ...any) { s.text += fmt.Sprintf(format, args...) }
func (s *spoken) Logf(format string, args ...any)   {}

func (s *spoken) first() string {
	for line := range strings.Lines(s.text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

func (j job) firstLook() int {
	if j.gate.Looks == nil {
		return 3
	}
	return j.gate.Looks[0]
}
