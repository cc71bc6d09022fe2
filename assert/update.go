package assert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/regressions"
)

// baselineStarts is over how many starts of the engine a baseline is spread:
// two show whether starts differ.
const baselineStarts = 2

// record makes the runs a baseline needs and writes it: a new file where old
// is nil, else over it or, in append mode, to its end.
func (g *gating) record(old *regressions.Baseline, msgAndArgs []any) bool {
	if h, ok := g.t.(tHelper); ok {
		h.Helper()
	}
	if err := writable(filepath.Dir(g.path)); err != nil {
		bad := reportf("the baseline's folder cannot be written, so no run was made for it: %v", err)
		bad.add("next", "update on a checkout that can be written, and commit the file")
		return fail(g.t, bad, msgAndArgs)
	}
	if bad, ok := g.storable(); !ok {
		return fail(g.t, bad, msgAndArgs)
	}
	if bad, ok := g.complete(); !ok {
		return fail(g.t, bad, msgAndArgs)
	}
	arm, err := armOf(g.runs)
	if err != nil {
		return fail(g.t, reportf("no baseline was written: %v", err), msgAndArgs)
	}
	first := g.runs.Records[0]
	if !claim(g.path, first.PointHash) {
		bad := reportf("no baseline was written: two points of %s share the name %s, and with it the file", g.test, first.PointName)
		bad.add("next", "give one of them another Point.Name")
		return fail(g.t, bad, msgAndArgs)
	}
	b := &regressions.Baseline{Arm: arm, Recorded: first.Time, Commit: ci.Commit(".")}
	out, err := g.write(old, b)
	if err != nil {
		return fail(g.t, reportf("no baseline was written: %v", err), msgAndArgs)
	}
	out.replaced(g.runs)
	out.add("file", "%s", filepath.ToSlash(g.path))
	out.at = at(g.runs.Records)
	return pass(g.t, out)
}

// complete makes the runs that are still to be made. They are one plan, so that
// what the time left does not hold is refused before the first of them; the
// first run that could not be stored ends it.
func (g *gating) complete() (report, bool) {
	have := len(g.runs.Records)
	n := g.config.BaselineRuns(have)
	if !g.runs.Extendable() || n == have {
		return report{}, true
	}
	if err := g.runs.ExtendOver(testContext(g.t), n, baselineStarts); err != nil {
		if bad, ok := g.storable(); !ok {
			return bad, false
		}
		bad := reportf("no baseline was written: %d of %s made, then: %v", len(g.runs.Records), many(n, "run"), err)
		bad.at = at(g.runs.Records)
		return bad, false
	}
	return g.storable()
}

// written is the point that this process wrote each file for.
var written sync.Map

// claim reports whether the file is free for this point: another point under
// the same name would silently take its place.
func claim(path, pointHash string) bool {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	other, taken := written.LoadOrStore(path, pointHash)
	return !taken || other == pointHash
}

// write creates, replaces or appends, and says which.
func (g *gating) write(old, b *regressions.Baseline) (report, error) {
	size := fmt.Sprintf("%s, %s", many(len(b.Runs), "run"), many(starts(b.Runs), "start"))
	switch {
	case old == nil:
		out := reportf("baseline created: %s; nothing was compared", size)
		g.thin(&out, b)
		return out, regressions.WriteBaseline(g.path, b, false)
	case g.config.Append:
		out := reportf("baseline appended to: %s more, to the %s of %s; nothing was compared", size, many(len(old.Runs), "run"), dated(old))
		return out, regressions.AppendStart(g.path, b)
	}
	out := reportf("baseline replaced: %s, in place of %s of %s; nothing was gated", size, many(len(old.Runs), "run"), dated(old))
	g.thin(&out, b)
	verdict := regressions.Compare(old, b, g.gate)
	out.add("old → new", "%s", verdict.Text())
	return out, regressions.WriteBaseline(g.path, b, true)
}

// thin warns of a baseline that gates will find too small.
func (g *gating) thin(out *report, b *regressions.Baseline) {
	if n := len(b.Runs); n < 5 {
		out.add("warning", "a stored baseline wants 5 runs or more, this has %d", n)
	}
	if n := starts(b.Runs); n < baselineStarts {
		out.add("warning", "all runs are of one start of the engine, so drift between starts is not measured: append those of another with -%s=append", ci.UpdateFlag)
	}
}

// storable refuses runs that must not become a baseline.
func (g *gating) storable() (report, bool) {
	if bad, ok := check(g.runs); !ok {
		bad.head = "no baseline was written: " + bad.head
		return bad, false
	}
	records := g.runs.Records
	if q := queueOf(records); q.State == steady.Growing {
		bad := growing(q, records)
		bad.head = "no baseline was written: a growing queue is none to compare with: " + bad.head
		return bad, false
	}
	return report{}, true
}

// writable reports, before engine time is spent, that a file can be made in
// dir: a read-only checkout cannot take a baseline.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// starts counts the engine starts that runs were made on.
func starts(runs []regressions.Run) int {
	seen := make(map[string]bool)
	for _, r := range runs {
		seen[fmt.Sprint(r.StartID, "/", r.Start)] = true
	}
	return len(seen)
}

// dated is when a baseline was recorded and on which commit.
func dated(b *regressions.Baseline) string {
	text := b.Recorded.UTC().Format("2006-01-02")
	if b.Commit != "" {
		text += ", commit " + b.Commit[:min(7, len(b.Commit))]
	}
	return strings.TrimSpace(text)
}
