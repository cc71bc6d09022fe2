package regressions

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// A baseline file is in Go's benchmark format. What arms must share (point,
// key, schema) is configuration, since benchstat makes a table of its own of
// everything that differs there; what may differ between two baselines or two
// runs (identity, commit, dates, seeds, starts) rides on comment lines, which
// benchstat skips:
//
//	openloop-schema: 1
//	test: TestDecode
//	point.arrivals: poisson 4/s
//	key.hardware: H100 SXM
//	# openloop recorded time=2026-11-20T09:30:00Z commit=3f2c9a1
//	Unit p50-tpot-sec better=lower
//	# openloop run index=0 seed=7 start=0 start-id=a time=2026-11-20T09:30:00Z
//	BenchmarkDecode/poisson=4 1 0.00578 p50-tpot-sec …
//
// Behind a run there is, where one was made in turns with it, the run of the
// control, as "# openloop control …" and a benchmark line named …/control.
//
//	# openloop end runs=12 sum=0123456789abcdef
const (
	comment   = "# openloop "
	schemaKey = "openloop-schema"
	pointKeys = "point."
	keyKeys   = "key."
	// maxLine is below the 64 KiB that readers of the format accept.
	maxLine = 60_000
)

// format writes a baseline; it refuses one that could not be read back.
func format(b *Baseline) ([]byte, error) {
	if err := b.validate(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	config := func(key, value string) { fmt.Fprintf(&out, "%s: %s\n", key, configValue(value)) }
	fmt.Fprintf(&out, "# The accepted runs of one point, a line each. Compare two such files with benchstat\n")
	fmt.Fprintf(&out, "# or with openloop compare; never edit one.\n")
	config(schemaKey, strconv.Itoa(Schema))
	config("metric-schema", strconv.Itoa(b.Arm.Schema))
	config("test", b.Test)
	config("point", b.PointName)
	config("point-hash", b.PointHash)
	config("clock", map[bool]string{false: "real", true: "virtual"}[b.Virtual])
	config("cache-flush", b.Cache)
	if b.SLO != "" {
		config("slo", b.SLO)
	}
	for _, p := range b.Point {
		config(pointKeys+configKey(p.Key), p.Value)
	}
	for _, p := range b.Key {
		config(keyKeys+configKey(p.Key), p.Value)
	}
	for _, p := range b.Identity {
		fmt.Fprintf(&out, "%sidentity %s\n", comment, fields("key", p.Key, "value", p.Value))
	}
	for _, p := range b.ControlIdentity {
		fmt.Fprintf(&out, "%scontrol-identity %s\n", comment, fields("key", p.Key, "value", p.Value))
	}
	fmt.Fprintf(&out, "%srecorded %s\n\n", comment, fields("time", timeField(b.Recorded), "commit", b.Commit))
	for _, name := range metric.Names() {
		if better := metricDef(name).Better; better != metric.Same && b.has(name) {
			fmt.Fprintf(&out, "Unit %s better=%s\n", name, better)
		}
	}
	name := benchmarkName(b.Test, b.PointName)
	for _, r := range b.Runs {
		formatRun(&out, "run", name, r)
		if r.Control != nil {
			formatRun(&out, "control", name+"/control", *r.Control)
		}
	}
	out.WriteString("\n\n")
	for _, m := range missing(b.Runs) {
		fmt.Fprintf(&out, "%smissing %s\n", comment, fields("metric", m.metric, "runs", ordinals(m.runs), "why", m.why))
	}
	for _, m := range missing(b.control().Runs) {
		fmt.Fprintf(&out, "%scontrol-missing %s\n", comment, fields("metric", m.metric, "runs", ordinals(m.runs), "why", m.why))
	}
	fmt.Fprintf(&out, "%send runs=%d sum=%s\n", comment, len(b.Runs), sum(out.Bytes()))
	for i, line := range bytes.Split(out.Bytes(), []byte("\n")) {
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d would have %d bytes, at most %d can be read back: %.40q", i+1, len(line), maxLine, line)
		}
	}
	return out.Bytes(), nil
}

// formatRun writes the two lines of a run, or of the control run beside it.
func formatRun(out *bytes.Buffer, word, name string, r Run) {
	fmt.Fprintf(out, "\n%s%s %s\nBenchmark%s 1", comment, word, fields(
		"index", strconv.Itoa(r.Index), "seed", strconv.FormatUint(r.Seed, 10),
		"start", strconv.Itoa(r.Start), "start-id", r.StartID, "time", timeField(r.Time), "gaps", r.Gaps), name)
	for _, m := range metric.Names() {
		if v, ok := r.Values[m]; ok {
			fmt.Fprintf(out, " %v %s", v, m)
		}
	}
}

// configKey makes a key that the format accepts: lower case, no spaces, no
// colon. What it does not accept is written "~" and two hexadecimal digits.
func configKey(key string) string {
	return escape(key, func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' || c == '/'
	})
}

// configValue quotes a value that would not come back as it is.
func configValue(v string) string {
	if v == "" || v[0] == '"' || v != strings.TrimSpace(v) || strings.ContainsFunc(v, unprintable) {
		return strconv.Quote(v)
	}
	return v
}

func unprintable(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }

// fields writes key=value pairs, without those that are empty.
func fields(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		key, v := pairs[i], pairs[i+1]
		if v == "" {
			continue
		}
		if v[0] == '"' || strings.ContainsFunc(v, func(r rune) bool { return unprintable(r) || unicode.IsSpace(r) }) {
			v = strconv.Quote(v)
		}
		out = append(out, key+"="+v)
	}
	return strings.Join(out, " ")
}

func timeField(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// benchmarkName is the name of the benchmark line. Readers take "-4" at the
// end of one for GOMAXPROCS, so it becomes "=4", which they take for the value
// of a parameter.
func benchmarkName(test, point string) string {
	name := strings.TrimPrefix(test, "Test") + "/" + point
	name = strings.Map(func(r rune) rune {
		if unprintable(r) || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, strings.TrimPrefix(name, "/"))
	digits := strings.TrimRight(name, "0123456789")
	if rest, ok := strings.CutSuffix(digits, "-"); ok && len(digits) < len(name) {
		name = rest + "=" + name[len(digits):]
	}
	return name
}
