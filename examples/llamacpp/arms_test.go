//go:build llamacpp

package llamacpp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

// prompts is a load that is nearly all prompt. One request at a time is the
// quietest load there is, and quick to measure.
var prompts = benchtest.Point{
	Workload: fixtures.Lengths{Prompt: fixtures.Fixed(128), Output: fixtures.Fixed(4)},
	Closed:   benchtest.Closed{InFlight: 1}, Requests: 16, Warmup: 3, Settle: 3,
	Runs: 1, Cache: benchtest.ProvedCold, Limits: shared,
}

// looks are the gate's, as far as the baseline has runs to pair with.
var looks = []int{3, 5, 8}

// gate is told its number of gates, because the baseline of these tests is in
// no module.
var gate = regressions.Gate{
	Margin: 0.10, Gates: 1, Looks: looks,
	Metrics: []regressions.Metric{{Name: "p50-e2e-sec"}, {Name: "p50-ttft-sec"}},
}

// arm is one configuration of the server, and the runs made on it.
type arm struct {
	name string
	runs *benchtest.Runs
	want int // the number of runs to make
}

// start starts a server of its own for an arm and makes the first run.
func start(t *testing.T, name string, cfg llamacpp.Config, want int) *arm {
	t.Helper()
	engine := llamacpp.Start(t, cfg)
	return &arm{name, benchtest.Measure(t, engine, prompts), want}
}

// interleave makes the arms' runs in turn, forwards and backwards, so that what
// changes on the host meets all of them alike. Each arm spreads its runs over
// two starts of its server.
func interleave(t *testing.T, arms ...*arm) {
	t.Helper()
	for round, left := 1, true; left; round++ {
		left = false
		for i := range arms {
			if round%2 == 1 {
				i = len(arms) - 1 - i // the first runs were made forwards
			}
			a := arms[i]
			if round >= a.want {
				continue
			}
			left = true
			starts := 1
			if round >= a.want/2 {
				starts = 2
			}
			if err := a.runs.ExtendOver(t.Context(), round+1, starts); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, a := range arms {
		a.report(t)
	}
}

// logs are the logarithms of a metric, run by run.
func (a *arm) logs(t *testing.T, name string) []float64 {
	t.Helper()
	var logs []float64
	for _, record := range a.runs.Records {
		value, err := record.Value(name)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, math.Log(value))
	}
	return logs
}

// report prints what the runs vary by.
func (a *arm) report(t *testing.T) {
	t.Helper()
	starts := map[string]bool{}
	for _, record := range a.runs.Records {
		starts[record.StartID] = true
	}
	text := fmt.Sprintf("%s: %d runs over %d starts", a.name, len(a.runs.Records), len(starts))
	for _, m := range gate.Metrics {
		mean, sd := stat.MeanStdDev(a.logs(t, m.Name), nil)
		text += fmt.Sprintf(", %s %.0fms ± %.1f %%", m.Name, 1e3*math.Exp(mean), 100*sd)
	}
	t.Log(text)
}

// judge is the verdict against the stored baseline.
func (a *arm) judge(t *testing.T) (verdict regressions.Status, text string) {
	t.Helper()
	return a.verdict(t, func(said *said) { assert.NoRegression(said, a.runs, gate) })
}

// verdict is what an assertion says: the first word, and all of it.
func (a *arm) verdict(t *testing.T, judged func(*said)) (verdict regressions.Status, text string) {
	t.Helper()
	var said said
	judged(&said)
	t.Logf("%s is judged\n%s", a.name, said.text)
	for _, s := range []regressions.Status{regressions.Pass, regressions.Improved, regressions.Regressed, regressions.Inconclusive} {
		if strings.HasPrefix(strings.TrimSpace(said.text), string(s)+":") {
			return s, strings.TrimSpace(said.text)
		}
	}
	t.Fatalf("%s got no verdict", a.name)
	return "", ""
}

// said is a test that keeps what an assertion says, green or not.
type said struct{ text string }

func (s *said) Errorf(format string, args ...any) { s.text += fmt.Sprintf(format, args...) }
func (s *said) Logf(format string, args ...any)   { s.text += fmt.Sprintf(format, args...) }

// own keeps the environment from attaching these tests to another server, and
// from having a say in their verdicts, and puts their baseline into a folder
// of its own.
func own(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"OPENLOOP_ENGINE_URL", "OPENLOOP_LLAMACPP_URL", "OPENLOOP_MODEL", "OPENLOOP_RUNS", "OPENLOOP_BUDGET",
		"OPENLOOP_UPDATE", "OPENLOOP_CREATE", "OPENLOOP_APPEND", "OPENLOOP_INCONCLUSIVE",
	} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
}

// record stores the arm's runs as the baseline, as -openloop.update does.
func (a *arm) record(t *testing.T) {
	t.Helper()
	t.Setenv("OPENLOOP_UPDATE", "1")
	t.Setenv("OPENLOOP_UPDATE_IN_CI", "1")
	t.Setenv("OPENLOOP_RUNS", fmt.Sprint(len(a.runs.Records)))
	if !assert.NoRegression(t, a.runs, gate) {
		t.FailNow()
	}
	t.Setenv("OPENLOOP_UPDATE", "")
	t.Setenv("OPENLOOP_UPDATE_IN_CI", "")
	t.Setenv("OPENLOOP_RUNS", "")
}
