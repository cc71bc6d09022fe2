package regressions

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"golang.org/x/perf/benchfmt"
)

func parseRun(f map[string]string) (r Run, err error) {
	r.StartID = f["start-id"]
	if r.Gaps = f["gaps"]; r.Gaps != "" && r.Gaps != gapsOfTokens && r.Gaps != gapsOfEvents {
		return r, fmt.Errorf("gaps is %q, must be %s or %s", r.Gaps, gapsOfTokens, gapsOfEvents)
	}
	if r.Index, err = strconv.Atoi(f["index"]); err != nil {
		return r, fmt.Errorf("index is %q, must be a number", f["index"])
	}
	if r.Start, err = strconv.Atoi(f["start"]); err != nil {
		return r, fmt.Errorf("start is %q, must be a number", f["start"])
	}
	if r.Seed, err = strconv.ParseUint(f["seed"], 10, 64); err != nil {
		return r, fmt.Errorf("seed is %q, must be a number", f["seed"])
	}
	r.Time, err = parseTime(f["time"])
	return r, err
}

func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time is %q, must be as in %s", s, time.RFC3339)
	}
	return t.UTC(), nil
}

// result reads one benchmark line, which the comment with its run's facts
// precedes.
func (p *parser) result(rec *benchfmt.Result) error {
	_, line := rec.Pos()
	run, ok := p.runAt[line-1]
	if !ok {
		return p.fail(line, "no %srun line precedes it", comment)
	}
	delete(p.runAt, line-1)
	if rec.Iters != 1 {
		return p.fail(line, "%d iterations, a line is one run", rec.Iters)
	}
	run.Values, run.Missing = map[string]float64{}, map[string]string{}
	for _, v := range rec.Values {
		// The reader converts units that it knows, such as ns; a value is
		// never inferred from another unit here.
		if v.OrigUnit != "" && v.OrigUnit != v.Unit {
			return p.fail(line, "unit mismatch: %s, want %s", v.OrigUnit, v.Unit)
		}
		if err := validValue(v.Unit, v.Value); err != nil {
			return p.fail(line, "%v", err)
		}
		if _, twice := run.Values[v.Unit]; twice {
			return p.fail(line, "%s is there twice", v.Unit)
		}
		run.Values[v.Unit] = v.Value
	}
	if p.controlAt[line-1] {
		return p.control(line, run)
	}
	if len(p.b.Runs) == 0 {
		if err := p.config(rec); err != nil {
			return p.fail(line, "%v", err)
		}
	}
	p.b.Runs = append(p.b.Runs, run)
	return nil
}

// control takes the run of a control, which the run that it belongs to
// precedes.
func (p *parser) control(line int, c Run) error {
	if n := len(p.b.Runs); n == 0 || p.b.Runs[n-1].Control != nil {
		return p.fail(line, "no run precedes this one of its control")
	}
	p.b.Runs[len(p.b.Runs)-1].Control = &c
	return nil
}

// config reads what all runs share.
func (p *parser) config(rec *benchfmt.Result) error {
	b := &p.b
	for _, c := range rec.Config {
		v, err := parseConfig(string(c.Value))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Key, err)
		}
		point, isPoint := strings.CutPrefix(c.Key, pointKeys)
		key, isKey := strings.CutPrefix(c.Key, keyKeys)
		switch {
		case isPoint:
			b.Point = append(b.Point, metric.Pair{Key: unescape(point), Value: v})
		case isKey:
			b.Key = append(b.Key, metric.Pair{Key: unescape(key), Value: v})
		case c.Key == "metric-schema":
			b.Arm.Schema, err = strconv.Atoi(v)
		case c.Key == "test":
			b.Test = v
		case c.Key == "point":
			b.PointName = v
		case c.Key == "point-hash":
			b.PointHash = v
		case c.Key == "cache-flush":
			b.Cache = v
		case c.Key == "slo":
			b.SLO = v
		case c.Key == "clock" && (v == "real" || v == "virtual"):
			b.Virtual = v == "virtual"
		case c.Key == schemaKey:
		default:
			err = fmt.Errorf("is unknown or has an unknown value %q", v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Key, err)
		}
	}
	if b.Arm.Schema != metric.Schema {
		return fmt.Errorf("metric-schema is %d, this openloop's formulas are of %d: record the baseline again", b.Arm.Schema, metric.Schema)
	}
	return nil
}

func parseConfig(v string) (string, error) {
	if !strings.HasPrefix(v, `"`) {
		return v, nil
	}
	s, err := strconv.Unquote(v)
	if err != nil {
		return "", fmt.Errorf("%.40s is no quoted value", v)
	}
	return s, nil
}

// finish joins what the end of the file says to the runs, and holds the whole
// against what would be written.
func (p *parser) finish() error {
	if n := len(p.b.Runs); n != p.end {
		return p.fail(len(p.lines), "it has %d runs, its end says %d", n, p.end)
	}
	for line := range p.runAt {
		return p.fail(line, "no benchmark line follows it")
	}
	for _, l := range p.lacks {
		runs, err := parseOrdinals(l.fields["runs"], len(p.b.Runs))
		if err != nil {
			return p.fail(l.line, "%v", err)
		}
		name := l.fields["metric"]
		for _, i := range runs {
			r := &p.b.Runs[i]
			if l.word == "control-missing" {
				if r = r.Control; r == nil {
					return p.fail(l.line, "run %d has no control run", i)
				}
			}
			_, has := r.Values[name]
			if _, twice := r.Missing[name]; twice || has {
				return p.fail(l.line, "run %d has %s already", i, name)
			}
			r.Missing[name] = l.fields["why"]
		}
	}
	if err := p.b.validate(); err != nil {
		return fmt.Errorf("%s: corrupt baseline: %w", p.name, err)
	}
	return p.unedited()
}
