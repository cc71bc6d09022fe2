package assert

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/regressions"
	"github.com/openloop-go/openloop/regressions/stat"
)

// baselines is the folder of the baselines, below the package's own. They
// are part of the source, so it is not configurable.
var baselines = filepath.Join("testdata", "openloop")

// NoRegression asserts that the runs are not slower than the stored baseline
// by the gate's margin or more, and no worse in errors. It is the one
// assertion that measures: while a look is unclear it makes more runs, up to
// the gate's last look (3, 5, 8 and 12 runs unless the gate says otherwise).
// The verdict is printed in full, by t.Logf where it is green.
//
// A missing baseline fails, with the command that records it; so do one that
// cannot be read, runs of another workload, and a queue that grows where the
// baseline's did not. With -openloop.update (or OPENLOOP_UPDATE=1) the runs,
// 12 of them over two starts of the engine where it can be restarted, become
// the baseline, and nothing is compared. What an inconclusive verdict does is
// configured (ci.Config); by itself it fails.
//
// Each look is checked against the test's deadline before its first run, and so
// is a baseline that is to be recorded as a whole; with -openloop.update
// benchtest.Measure has done so before its first run. The first run that cannot
// be trusted ends it, unless it may be made again (see benchtest.Runs).
//
// A metric that shows nothing at the load, or a percentile that a run has too
// few requests for, is refused before anything is compared or stored.
//
// Runs that were measured in turns with a frozen control (benchtest.MeasureBoth,
// whose candidate has the control's as Runs.Control) are stored with those of
// the control. Where the baseline and the runs both have them, each run is
// judged against its control's, which takes off what the machine is today.
//
// Built with -race, runs on a real clock are neither compared nor stored: the
// test is then a functional one, and says so.
func NoRegression(t TestingT, runs *benchtest.Runs, gate regressions.Gate, msgAndArgs ...any) bool {
	if h, ok := t.(tHelper); ok {
		h.Helper()
	}
	config, err := ci.Load()
	if err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	if err := gate.Validate(); err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	if bad, ok := check(runs); !ok {
		return fail(t, bad, msgAndArgs)
	}
	g := gating{t: t, config: config, runs: runs, control: runs.Control, gate: gate, name: "NoRegression", held: "the baseline held"}
	if bad, ok := g.gateable(); !ok {
		return fail(t, bad, msgAndArgs)
	}
	if r, raced := g.raced(ci.Race); raced {
		if config.Update || config.Create {
			return fail(t, r, msgAndArgs)
		}
		return pass(t, r)
	}
	if err := g.locate(); err != nil {
		return fail(t, reportf("%v", err), msgAndArgs)
	}
	base, err := regressions.ReadBaseline(g.path)
	missing := errors.Is(err, regressions.ErrNoBaseline)
	switch {
	case missing && (config.Update || config.Create):
		return g.record(nil, msgAndArgs)
	case missing:
		return fail(t, g.missing(), msgAndArgs)
	case err != nil:
		return fail(t, g.unreadable(err), msgAndArgs)
	case config.Update:
		return g.record(base, msgAndArgs)
	}
	return g.judge(func(a regressions.Arm) regressions.Verdict { return regressions.Judge(base, a, g.gate) }, msgAndArgs)
}

// candidateStarts is over how many starts of the engine a candidate of more
// than one look is spread, where it can be restarted: with all its runs on one
// start, that start's own luck is taken for the build's.
const candidateStarts = 2

// gating is one call of NoRegression or NotSlower.
type gating struct {
	t      TestingT
	config ci.Config
	runs   *benchtest.Runs
	// control are the runs made in turns with them; nil for none.
	control *benchtest.Runs
	gate    regressions.Gate
	// name is that of the assertion, held what held the load before.
	name, held string
	// test is the name that the baseline is filed under, path its file.
	test, path string
}

// raced tells that nothing is gated in a binary built with -race, unless the
// clock of the runs was not a real one.
func (g *gating) raced(race bool) (report, bool) {
	if !race || g.runs.Records[0].Virtual {
		return report{}, false
	}
	r := reportf("not gated: built with -race, which makes code several times slower, so nothing was compared and no baseline was written")
	r.add("next", "run it without -race to gate")
	r.at = at(g.runs.Records)
	return r, true
}

func (g *gating) locate() error {
	first := g.runs.Records[0]
	g.test = first.Test
	if g.test == "" {
		g.test = testName(g.t)
	}
	if g.test == "" {
		return fmt.Errorf("assert: NoRegression files its baseline under the test's name, and neither the runs nor t have one: measure with benchtest.Measure, or set benchtest.Options.Test")
	}
	g.path = regressions.BaselinePath(baselines, g.test, first.PointName, first.Key)
	return g.countGates(0)
}

// countGates fills in among how many gates the rate of false alarms is shared:
// the module's baselines, and those that have none.
func (g *gating) countGates(without int) error {
	if g.gate.Gates == 0 {
		n, err := regressions.CountBaselines(".")
		if err != nil {
			return fmt.Errorf("assert: counting the module's baselines, which share the rate of false alarms: %w; set Gate.Gates", err)
		}
		g.gate.Gates = max(n+without, 1)
	}
	return nil
}

// judge takes looks until the verdict is clear.
func (g *gating) judge(look func(regressions.Arm) regressions.Verdict, msgAndArgs []any) bool {
	if h, ok := g.t.(tHelper); ok {
		h.Helper()
	}
	for {
		records := g.runs.Records
		q := queueOf(records)
		if bad, ok := g.controlHolds(); !ok {
			return fail(g.t, bad, msgAndArgs)
		}
		if q.State == steady.Growing {
			return fail(g.t, g.outgrown(q), msgAndArgs)
		}
		candidate, err := armOf(g.runs)
		if err != nil {
			return fail(g.t, reportf("%v", err), msgAndArgs)
		}
		v := look(candidate)
		out := report{head: strings.TrimRight(v.Text(), "\n")}
		next := v.NextLook
		if v.Status.Green() && q.State == steady.Undecided && !records[0].Quiet() {
			out = g.unsettled(q, out.head)
			v.Status, next = regressions.Inconclusive, nextLook(g.gate, len(records))
		}
		if next <= len(records) {
			return g.conclude(v.Status, out, msgAndArgs)
		}
		if !g.runs.Extendable() || g.control != nil && !g.control.Extendable() {
			out.add("runs", "%d here, %d needed for the next look, and these cannot be extended: they were loaded, not measured", len(records), next)
			return g.conclude(regressions.Inconclusive, out, msgAndArgs)
		}
		if err := g.extend(next); err != nil {
			if bad, ok := check(g.runs); !ok {
				return fail(g.t, bad, msgAndArgs)
			}
			out.add("runs", "%d here, %d needed for the next look, and making them failed: %v", len(g.runs.Records), next, err)
			return fail(g.t, out, msgAndArgs)
		}
		if bad, ok := check(g.runs); !ok {
			return fail(g.t, bad, msgAndArgs)
		}
	}
}

func (g *gating) conclude(status regressions.Status, out report, msgAndArgs []any) bool {
	if h, ok := g.t.(tHelper); ok {
		h.Helper()
	}
	if text := standsFor(g.runs.Records, g.gate); text != "" {
		out.add("stands for", "%s", text)
	}
	out.replaced(g.runs)
	if g.path != "" {
		out.add("file", "%s", filepath.ToSlash(g.path))
	}
	switch {
	case status.Green():
		return pass(g.t, out)
	case status == regressions.Inconclusive:
		return inconclusive(g.t, g.config, out, msgAndArgs)
	}
	return fail(g.t, out, msgAndArgs)
}

// nextLook is the gate's look after n runs; 0 when there is none.
func nextLook(gate regressions.Gate, n int) int {
	looks := gate.Looks
	if looks == nil {
		looks = stat.DefaultLooks()
	}
	for _, look := range looks {
		if look > n {
			return look
		}
	}
	return 0
}
