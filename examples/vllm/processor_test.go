//go:build vllm

package vllm

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/vllm"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

// onProcessor is the server that the environment names, on this host's
// processor: a model of random weights needs no download. vLLM by itself
// computes on all cores but one, which is left to its front end and to the load.
func onProcessor(t *testing.T, args ...string) engines.Engine {
	t.Helper()
	program, model := os.Getenv("OPENLOOP_VLLM_SERVER"), os.Getenv("OPENLOOP_VLLM_MODEL")
	if program == "" || model == "" {
		t.Fatalf("no server to measure: set OPENLOOP_VLLM_SERVER to a vllm program, got %q, and OPENLOOP_VLLM_MODEL to a model's folder, got %q; .ci/real-vllm installs both", program, model)
	}
	var cfg vllm.Config
	cfg.Model, cfg.Command = model, []string{program, "serve"}
	cfg.Args = append([]string{"--load-format", "dummy", "--max-model-len", "4096", "--max-num-seqs", "16", "--enforce-eager"}, args...)
	cfg.Env = []string{"VLLM_CPU_KVCACHE_SPACE=1", "HF_HUB_OFFLINE=1"}
	return vllm.Start(t, cfg)
}

var (
	// onOneHost are the limits for a load that is made on the server's own
	// host: where other programs take it, requests leave late, and events that
	// came one by one are read several at a time. Latencies run from the
	// schedule, so that what is late counts.
	onOneHost = benchtest.Limits{Lag: 500 * time.Millisecond, Achieved: 0.95, ZeroGaps: 1}

	// oneByOne is one request at a time, nearly all prompt: the quietest load
	// there is, and quick to measure.
	oneByOne = benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(512), Output: fixtures.Fixed(8)},
		Closed:   benchtest.Closed{InFlight: 1}, Requests: 100, Warmup: 5, Settle: 5,
		Starts: 1, Cache: benchtest.ProvedCold, Limits: onOneHost,
	}

	// tenPercent is told its number of gates, because the baseline of these
	// tests is in no module. The few tokens after the first one are small steps
	// that other programs disturb most, so that the whole is watched.
	tenPercent = regressions.Gate{
		Margin: 0.10, Gates: 1,
		Metrics: []regressions.Metric{{Name: "p50-ttft-sec"}, {Name: "p50-e2e-sec", Watch: true}},
	}
)

// The gate on a real vLLM, on a real clock, with a real processor's noise: the
// same server beside itself passes, and one that takes its prompts 32 tokens at
// a time, which makes them two to three times as slow, has regressed. On a host
// that is too busy for a margin of 10 % the same server may be inconclusive, never
// slower.
//
// All runs are made in turns with those of a server that stays the same, so that
// what changes on the host meets both alike.
func TestTheGateOnAProcessor(t *testing.T) {
	control, same, slow := onProcessor(t), onProcessor(t), onProcessor(t, "--max-num-batched-tokens", "32")
	own(t)

	t.Run("holds its SLO", func(t *testing.T) {
		runs := benchtest.Measure(t, control, benchtest.Point{
			Workload: oneByOne.Workload, Arrivals: arrival.Poisson{Rate: 2}, Requests: 40, Warmup: 5, Settle: 10,
			Runs: 1, Cache: benchtest.ProvedCold, Limits: onOneHost,
		})
		require.Valid(t, runs)
		assert.Attainment(t, runs, benchtest.SLO{TTFT: 3 * time.Second, TPOT: 300 * time.Millisecond}, 0.9)
	})

	point := oneByOne
	point.Runs = 8
	_, baseline := benchtest.MeasureBoth(t, control, same, point)
	report(t, "baseline", baseline)
	record(t, baseline)

	_, again := benchtest.MeasureBoth(t, control, same, oneByOne)
	report(t, "the same again", again)
	notSlower := []regressions.Status{regressions.Pass, regressions.Inconclusive}
	expect(t, "the same again, against the baseline", notSlower, func(said *said) {
		assert.NoRegression(said, again, tenPercent)
	})
	expect(t, "the same again, beside the control", notSlower, func(said *said) {
		assert.NotSlower(said, again, again.Control, tenPercent)
	})

	_, slower := benchtest.MeasureBoth(t, control, slow, oneByOne)
	report(t, "32 tokens at a time", slower)
	regressed := []regressions.Status{regressions.Regressed}
	expect(t, "32 tokens at a time, against the baseline", regressed, func(said *said) {
		assert.NoRegression(said, slower, tenPercent)
	})
	expect(t, "32 tokens at a time, beside the control", regressed, func(said *said) {
		assert.NotSlower(said, slower, slower.Control, tenPercent)
	})
}

// report prints what the runs vary by, by themselves and against the control.
func report(t *testing.T, name string, runs *benchtest.Runs) {
	t.Helper()
	text := fmt.Sprintf("%s: %d runs", name, len(runs.Records))
	for _, m := range tenPercent.Metrics {
		var logs, ratios []float64
		for i, record := range runs.Records {
			value, err := record.Value(m.Name)
			if err != nil {
				t.Fatal(err)
			}
			beside, err := runs.Control.Records[i].Value(m.Name)
			if err != nil {
				t.Fatal(err)
			}
			logs, ratios = append(logs, math.Log(value)), append(ratios, math.Log(value/beside))
		}
		mean, sd := stat.MeanStdDev(logs, nil)
		ratio, noise := stat.MeanStdDev(ratios, nil)
		text += fmt.Sprintf(", %s %.1fms ± %.1f %% (%+.1f %% ± %.1f %% of the control's)",
			m.Name, 1e3*math.Exp(mean), 100*sd, 100*math.Expm1(ratio), 100*noise)
	}
	t.Log(text)
}

// expect checks the first word of what an assertion says.
func expect(t *testing.T, what string, want []regressions.Status, judge func(*said)) {
	t.Helper()
	var said said
	judge(&said)
	t.Logf("%s\n%s", what, said.text)
	verdict, _, _ := strings.Cut(strings.TrimSpace(said.text), ":")
	if !slices.Contains(want, regressions.Status(verdict)) {
		t.Errorf("%s: %s, want %v", what, verdict, want)
	}
}

// said is a test that keeps what an assertion says, green or not.
type said struct{ text string }

func (s *said) Errorf(format string, args ...any) { s.text += fmt.Sprintf(format, args...) }
func (s *said) Logf(format string, args ...any)   { s.text += fmt.Sprintf(format, args...) }

// own keeps the environment from having a say in these verdicts, and puts
// their baseline into a folder of its own.
func own(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"OPENLOOP_RUNS", "OPENLOOP_BUDGET", "OPENLOOP_UPDATE", "OPENLOOP_CREATE", "OPENLOOP_APPEND", "OPENLOOP_INCONCLUSIVE",
	} {
		t.Setenv(name, "")
	}
	t.Chdir(t.TempDir())
}

// record stores the runs as the baseline, as -openloop.update does.
func record(t *testing.T, runs *benchtest.Runs) {
	t.Helper()
	for name, value := range map[string]string{
		"OPENLOOP_UPDATE": "1", "OPENLOOP_UPDATE_IN_CI": "1", "OPENLOOP_RUNS": fmt.Sprint(len(runs.Records)),
	} {
		t.Setenv(name, value)
		defer t.Setenv(name, "")
	}
	if !assert.NoRegression(t, runs, tenPercent) {
		t.FailNow()
	}
}
