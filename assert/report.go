package assert

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// report is a verdict in words: a line that says what and by how much, and
// labelled lines below it.
type report struct {
	head  string
	lines []string
	// at is the load and the work, told after the other lines; said is the
	// caller's own message, told last.
	at, said string
}

func reportf(format string, args ...any) report {
	return report{head: fmt.Sprintf(format, args...)}
}

// add appends a labelled line. A text of several lines is indented as one.
func (r *report) add(label, format string, args ...any) {
	r.lines = append(r.lines, line(label, fmt.Sprintf(format, args...)))
}

func line(label, text string) string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", 15))
	return fmt.Sprintf("    %-10s %s", label, text)
}

func (r report) String() string {
	lines := append([]string{r.head}, r.lines...)
	if r.at != "" {
		lines = append(lines, line("at", r.at))
	}
	if r.said != "" {
		lines = append(lines, line("message", r.said))
	}
	return strings.Join(lines, "\n")
}

// count writes a number of things with its thousands apart.
func count(n int) string {
	digits := strconv.Itoa(n)
	if n < 0 {
		return "-" + count(-n)
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// many is "1 run" or "3 runs".
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// seconds writes a time with three or four significant digits.
func seconds(s float64) string {
	if math.IsNaN(s) || math.IsInf(s, 0) || math.Abs(s) > math.MaxInt64/1e10 {
		return fmt.Sprint(s, "s")
	}
	d := time.Duration(math.Round(s * 1e9))
	unit := time.Duration(1)
	for d.Abs()/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// rate writes a rate with the digits that can matter.
func rate(v float64) string {
	if math.Abs(v) < 100 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// share writes a share as a percentage. What is not all is never 100.0 %, and
// what is not none is never 0.0 %.
func share(v float64) string {
	switch {
	case v > 0 && v < 0.0005:
		return strconv.FormatFloat(100*v, 'g', 2, 64) + " %"
	case v < 1-1e-9 && v >= 0.9995:
		return strconv.FormatFloat(math.Floor(1e5*v)/1e3, 'f', 3, 64) + " %"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

// exact writes a number with all the digits it has.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
