package regressions

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"golang.org/x/perf/benchfmt"
)

// parse reads a baseline. Every line is accounted for: one that is neither of
// the benchmark format nor ours is an error, and so is a missing end.
func parse(data []byte, name string) (*Baseline, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // a checkout's doing
	p := parser{name: name, lines: strings.Split(string(data), "\n"), runAt: map[int]Run{}, controlAt: map[int]bool{}}
	if err := p.schema(); err != nil {
		return nil, err
	}
	if err := p.comments(); err != nil {
		return nil, err
	}
	if err := p.results(data); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return &p.b, nil
}

type parser struct {
	name  string
	lines []string
	b     Baseline
	// runAt are the facts of runs, by the line of their comment; lacks the lines
	// that say what runs do not have.
	runAt map[int]Run
	// controlAt are those of which runs are the control's.
	controlAt map[int]bool
	lacks     []metaLine
	// end is the number of runs that the last line promises; −1 without one.
	// endLine is its number, and sum the one that it gives.
	end, endLine int
	sum          string
}

// metaLine is a comment line of ours, from 1.
type metaLine struct {
	line   int
	word   string
	fields map[string]string
}

func (p *parser) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: corrupt baseline: %s", p.name, line, fmt.Sprintf(format, args...))
}

// schema tells ours from foreign files, and this version from others, before
// anything else is read.
func (p *parser) schema() error {
	for i, line := range p.lines {
		if v, ok := strings.CutPrefix(line, schemaKey+":"); ok {
			v = strings.TrimSpace(v)
			n, err := strconv.Atoi(v)
			switch {
			case err != nil || n < 0:
				return p.fail(i+1, "%s is %q, must be a number", schemaKey, v)
			case n < Schema:
				return fmt.Errorf("%s: older baseline schema %d, this reads %d: record it again, or use the openloop that wrote it", p.name, n, Schema)
			case n > Schema:
				return fmt.Errorf("%s: newer baseline schema %d, this reads %d: update openloop", p.name, n, Schema)
			}
			return nil
		}
	}
	return fmt.Errorf("%s is not an openloop baseline: it has no %s line", p.name, schemaKey)
}

// comments reads our lines, and refuses lines that no reader would understand.
func (p *parser) comments() error {
	p.end = -1
	given, results := map[string]bool{}, false
	for i, line := range p.lines {
		n := i + 1
		rest, ours := strings.CutPrefix(line, comment)
		switch {
		case len(line) > maxLine:
			return p.fail(n, "it has %d bytes, at most %d are read", len(line), maxLine)
		case p.end >= 0 && strings.TrimSpace(line) != "":
			return p.fail(n, "there are lines after its end")
		case ours:
			if err := p.meta(n, rest); err != nil {
				return err
			}
		case line == "" || line[0] == '#' || strings.HasPrefix(line, "Benchmark") || strings.HasPrefix(line, "Unit "):
			results = results || line != "" && line[0] == 'B'
		case !isConfig(line):
			return p.fail(n, "this is no line of a baseline: %.60q", line)
		default:
			key, _, _ := strings.Cut(line, ":")
			if given[key] || results {
				return p.fail(n, "%s is given again, or after the first run: all runs share it", key)
			}
			given[key] = true
		}
	}
	if p.end < 0 {
		return fmt.Errorf("%s is cut off: its last line, %send, is missing", p.name, comment)
	}
	return nil
}

// sum is a check of all lines before the one that holds it, so that a value
// that was edited, or lost a digit, is noticed. CR LF counts as LF.
func sum(before []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(before) // never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

// unedited holds all lines against the sum on the last one, if it has one.
func (p *parser) unedited() error {
	if p.sum == "" || p.sum == sum([]byte(strings.Join(p.lines[:p.endLine-1], "\n")+"\n")) {
		return nil
	}
	return p.fail(p.endLine, "it was edited after it was written, or damaged: its sum is not the one on this line")
}

// isConfig reports whether the benchmark format takes the line for "key: value".
func isConfig(line string) bool {
	key, value, ok := strings.Cut(line, ": ")
	return ok && value != "" && key != "" && key[0] >= 'a' && key[0] <= 'z' &&
		configKey(key) == strings.ReplaceAll(key, "~", "~7e")
}

// meta reads one comment line of ours.
func (p *parser) meta(n int, rest string) error {
	word, rest, _ := strings.Cut(rest, " ")
	f, err := parseFields(rest)
	if err != nil {
		return p.fail(n, "%v", err)
	}
	m := metaLine{n, word, f}
	switch word {
	case "identity":
		p.b.Identity = append(p.b.Identity, metric.Pair{Key: f["key"], Value: f["value"]})
	case "control-identity":
		p.b.ControlIdentity = append(p.b.ControlIdentity, metric.Pair{Key: f["key"], Value: f["value"]})
	case "recorded":
		p.b.Commit = f["commit"]
		p.b.Recorded, err = parseTime(f["time"])
	case "run", "control":
		p.runAt[n], err = parseRun(f)
		p.controlAt[n] = word == "control"
	case "missing", "control-missing":
		p.lacks = append(p.lacks, m)
	case "end":
		if p.end, err = strconv.Atoi(f["runs"]); err == nil && p.end < 1 {
			err = fmt.Errorf("runs is %d, must be positive", p.end)
		}
		p.endLine, p.sum = n, f["sum"]
	default:
		err = fmt.Errorf("unknown line %q", word)
	}
	if err != nil {
		return p.fail(n, "%v", err)
	}
	return nil
}

// parseFields reads "key=value key="quoted value"".
func parseFields(s string) (map[string]string, error) {
	out := map[string]string{}
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		key, rest, ok := strings.Cut(s, "=")
		if !ok || key == "" || strings.ContainsAny(key, " \"") {
			return nil, fmt.Errorf("want key=value at %.40q", s)
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		if !strings.HasPrefix(rest, `"`) {
			out[key], s, _ = strings.Cut(rest, " ")
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("the quotes of %s do not end", key)
		}
		out[key], _ = strconv.Unquote(quoted)
		s = rest[len(quoted):]
	}
	return out, nil
}

// results reads what the benchmark format holds: configuration and values.
func (p *parser) results(data []byte) error {
	r := benchfmt.NewReader(bytes.NewReader(data), p.name)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return p.fail(rec.Line, "%s", rec.Msg)
		case *benchfmt.UnitMetadata:
			_, line := rec.Pos()
			def, ok := metric.Lookup(rec.OrigUnit)
			if !ok || rec.Key != "better" || rec.Value != def.Better.String() {
				return p.fail(line, "unit mismatch: %s %s=%s is not what this openloop means by it", rec.OrigUnit, rec.Key, rec.Value)
			}
		case *benchfmt.Result:
			if err := p.result(rec); err != nil {
				return err
			}
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("corrupt baseline: %w", err)
	}
	return nil
}
