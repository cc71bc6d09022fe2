package regressions

import (
	"fmt"
	"math"
	"strconv"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// validate refuses what must not be stored.
func (b *Baseline) validate() error {
	switch {
	case len(b.Runs) == 0:
		return fmt.Errorf("it has no runs")
	case b.PointName == "" || b.PointHash == "":
		return fmt.Errorf("its point has no name or no hash")
	case len(b.Problems) > 0:
		return fmt.Errorf("its runs cannot be trusted: %s", b.Problems[0])
	case b.Arm.Schema != metric.Schema:
		return fmt.Errorf("its metrics have schema %d, this is %d", b.Arm.Schema, metric.Schema)
	}
	for _, pairs := range [][]metric.Pair{b.Point, b.Key} {
		if len(values(pairs)) != len(pairs) {
			return fmt.Errorf("two pairs of its point or key have the same name: %v", pairs)
		}
	}
	seen := map[string]bool{}
	for i, r := range b.Runs {
		id := strconv.Itoa(r.Index) + "/" + r.start()
		if seen[id] {
			return fmt.Errorf("run %d of start %d is in it twice", r.Index, r.Start)
		}
		seen[id] = true
		if r.Index < 0 || r.Start < 0 {
			return fmt.Errorf("runs[%d] has index %d and start %d, which must not be negative", i, r.Index, r.Start)
		}
		if len(r.Values) == 0 {
			return fmt.Errorf("run %d has no values", r.Index)
		}
		if r.Gaps != "" && r.Gaps != gapsOfTokens && r.Gaps != gapsOfEvents {
			return fmt.Errorf("run %d has gaps %q, must be %s, %s or empty", r.Index, r.Gaps, gapsOfTokens, gapsOfEvents)
		}
		if err := r.validate(); err != nil {
			return fmt.Errorf("run %d: %w", r.Index, err)
		}
		if c := r.Control; (c != nil) != (b.Runs[0].Control != nil) {
			return fmt.Errorf("run %d and run %d: one has a control run and the other has none", b.Runs[0].Index, r.Index)
		} else if c != nil && (c.Index != r.Index || c.Seed != r.Seed) {
			return fmt.Errorf("run %d has a control run of another index or seed", r.Index)
		} else if c != nil && c.Control != nil {
			return fmt.Errorf("run %d has a control run with a control of its own", r.Index)
		}
	}
	return nil
}

// validate refuses a run, or its control's, without valid values.
func (r Run) validate() error {
	for name, v := range r.Values {
		if err := validValue(name, v); err != nil {
			return err
		}
	}
	switch {
	case r.Control == nil:
		return nil
	case len(r.Control.Values) == 0:
		return fmt.Errorf("its control run has no values")
	}
	if err := r.Control.validate(); err != nil {
		return fmt.Errorf("of the control: %w", err)
	}
	return nil
}

// validValue refuses what is no value of a metric.
func validValue(name string, v float64) error {
	def, ok := metric.Lookup(name)
	switch {
	case !ok:
		return fmt.Errorf("unknown metric or unit %q", name)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%s is %v, must be finite", name, v)
	case v < 0 || v == 0 && def.Scale == metric.Ratio:
		return fmt.Errorf("%s is %v, must be positive", name, v)
	case v > 1 && def.Unit == "share":
		return fmt.Errorf("%s is %v, a share is at most 1", name, v)
	}
	return nil
}
