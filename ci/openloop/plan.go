package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/openloop-go/openloop/regressions"
)

const planUsage = `usage: openloop plan -cv CV [flags]
       openloop plan -baseline FILE.bench [flags]

Says before anything is measured what the gate's looks can show when runs vary
by CV, what they cannot, and what would do. A baseline's metrics are planned
with the upper 80 % bound of the variation between its runs, or between its
starts where the gate compares starts. Percentages are written 5% or 0.05.

exit status: 0 the margin can be resolved, 1 it cannot, 2 bad usage or
unusable input

flags:
`

func planVerb(args []string, stdout, stderr io.Writer) int {
	var o planOptions
	flags := planFlags(&o)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, planUsage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return exitOK
	case err != nil:
		return cannotPlan(stderr, err)
	case flags.NArg() > 0:
		return cannotPlan(stderr, fmt.Errorf("want flags only, got %q: a baseline is given as -baseline FILE", flags.Args()))
	}
	f, err := o.plan()
	if err != nil {
		return cannotPlan(stderr, err)
	}
	if o.json {
		if err := f.writeJSON(stdout); err != nil {
			return cannotPlan(stderr, err)
		}
	} else {
		fmt.Fprint(stdout, f.text())
	}
	if !f.Resolvable {
		return exitNegative
	}
	return exitOK
}

// plan makes the plan that the flags ask for.
func (o planOptions) plan() (*forecast, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	noise, err := o.noise()
	if err != nil {
		return nil, err
	}
	return o.forecast(noise)
}

func cannotPlan(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "openloop plan: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitUnusable
}

func (f *forecast) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

// noise is what is planned for: the one CV that was given, or the metrics of
// the baseline.
func (o planOptions) noise() ([]regressions.Noise, error) {
	if o.baseline == "" {
		return []regressions.Noise{{Role: regressions.Gated, Margin: o.margin(), SD: o.cv}}, nil
	}
	base, err := regressions.ReadBaseline(o.baseline)
	if err != nil {
		return nil, err
	}
	all, err := o.gate.Noise(base)
	if err != nil {
		return nil, fmt.Errorf("-baseline %s: %w", o.baseline, err)
	}
	if o.starts > 0 && !all[0].ByStart() {
		return nil, fmt.Errorf("-starts %d counts only where starts are compared: %s has %d of the 5 needed; leave it out", o.starts, o.baseline, all[0].Starts)
	}
	return all, nil
}
