package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// What may be asked for. More looks or gates than these are typing errors.
const (
	mostLooks  = 20
	mostGates  = 10_000
	mostStarts = 100
	mostAlarms = 0.20
	leastPower = 0.50
	mostPower  = 0.999
	// mostMinutes of one run are a week.
	mostMinutes = 7 * 24 * 60
)

// planOptions are the flags; zero is "not given".
type planOptions struct {
	gate        regressions.Gate
	cv, power   float64
	baseline    string
	minutes     float64
	stored      int
	interleaved bool
	starts      int
	json        bool
	// paths are the simulated gates of a chance; zero is as many as
	// are affordable.
	paths int
}

func planFlags(o *planOptions) *flag.FlagSet {
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var((*percentage)(&o.cv), "cv", "how much a metric varies between runs, as `2%`")
	flags.StringVar(&o.baseline, "baseline", "", "take metrics, variation and starts from this baseline `FILE`")
	flags.Var((*percentage)(&o.gate.Margin), "margin", "the slowdown tolerated, as `5%` (default 5%)")
	flags.Func("false-alarms", "the rate of false alarms of the whole job, as `2.5%`, at most 20% (default 2.5%)", within(&o.gate.FalseAlarms, 0, mostAlarms))
	flags.Func("power", "the probability of finding what there is, as `80%` (default 80%)", within(&o.power, leastPower, mostPower))
	flags.Func("minutes-per-run", "engine `MINUTES` of a run, warmup and settle included", minutes(&o.minutes))
	flags.Func("gates", "the `NUMBER` of points with a baseline in the whole job, which share the false alarms (default 1)", whole(&o.gate.Gates, 1, mostGates))
	flags.Func("stored", "plan against a stored baseline of so many `RUNS`", whole(&o.stored, stat.MinRuns, stat.MaxRuns))
	flags.BoolVar(&o.interleaved, "interleaved", false, "plan with as many new runs of the old build at every look (the default with -cv)")
	flags.Func("starts", "the candidate's runs come from so many engine `STARTS`; for a baseline of 5 starts or more (default 1)", whole(&o.starts, 1, mostStarts))
	flags.Func("looks", "the numbers of runs at which the gate looks, as `3,5,8,12` (the default)", looks(&o.gate.Looks))
	flags.Var((*metricList)(&o.gate.Metrics), "metrics", "the metrics of -baseline to plan, each with its own margin where it has one: `p50-tpot-sec,p50-ttft-sec=10%` (default: the gate's own set)")
	flags.BoolVar(&o.json, "json", false, "write the same numbers as JSON")
	return flags
}

// validate reports everything that is wrong with the flags together.
func (o planOptions) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	given := o.baseline != ""
	switch {
	case o.cv == 0 && !given:
		bad("how much do runs vary? give -cv, as in -cv 2%%, or -baseline FILE to read it from")
	case o.cv != 0 && given:
		bad("-cv %s and -baseline %s both say how much runs vary: give one", percent(o.cv), o.baseline)
	}
	if o.stored != 0 && o.interleaved {
		bad("-stored %d and -interleaved are two designs: give one", o.stored)
	}
	if o.stored != 0 && given {
		bad("-stored %d is for -cv: %s has its own number of runs; leave it out", o.stored, o.baseline)
	}
	if o.starts != 0 && !given {
		bad("-starts %d needs a -baseline, which says how much starts differ; leave it out", o.starts)
	}
	if o.starts != 0 && o.interleaved {
		bad("-starts %d and -interleaved are two designs: give one", o.starts)
	}
	if o.gate.Metrics != nil && !given {
		bad("-metrics needs a -baseline to read them from; leave it out with -cv")
	}
	if err := o.gate.Validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o planOptions) margin() float64 { return cmp.Or(o.gate.Margin, regressions.DefaultMargin) }

func (o planOptions) falseAlarms() float64 {
	return cmp.Or(o.gate.FalseAlarms, regressions.DefaultFalseAlarms)
}

func (o planOptions) looks() []int {
	if o.gate.Looks == nil {
		return stat.DefaultLooks()
	}
	return o.gate.Looks
}

// within is a percentage in limits of its own; a least of 0 is no limit, since
// no percentage is 0.
func within(to *float64, least, most float64) func(string) error {
	return func(s string) error {
		var p percentage
		if err := p.Set(s); err != nil {
			return err
		}
		switch v := float64(p); {
		case least == 0 && v > most:
			return fmt.Errorf("must be at most %s", percent(most))
		case v < least*(1-1e-9) || v > most*(1+1e-9): // 99.9 % is a little more than 0.999
			return fmt.Errorf("must be from %s to %s", percent(least), percent(most))
		}
		*to = float64(p)
		return nil
	}
}

func whole(to *int, least, most int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
}

func minutes(to *float64) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || v <= 0 || v > mostMinutes {
			return fmt.Errorf("must be a number of minutes above 0 and at most %d, as in 2.5", mostMinutes)
		}
		*to = v
		return nil
	}
}

func looks(to *[]int) func(string) error {
	return func(s string) error {
		var out []int
		for part := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil {
				return fmt.Errorf("%q is no number of runs: write them as 3,5,8,12", part)
			}
			out = append(out, n)
		}
		if len(out) > mostLooks {
			return fmt.Errorf("%d looks, at most %d", len(out), mostLooks)
		}
		if err := stat.ValidateLooks(out); err != nil {
			return fmt.Errorf("%s: write them as 3,5,8,12", strings.TrimPrefix(err.Error(), "looks: "))
		}
		*to = out
		return nil
	}
}
