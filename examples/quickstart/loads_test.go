package quickstart

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/sim"
)

// published is what is known of p50 TPOT at one load when decode is 10 %
// slower and an engine's runs differ by 2 %: the coefficient of variation of
// a run, the slowdown that shows, and that slowdown as a multiple of the
// standard deviation of the difference of two runs, whose arrivals were other
// ones or the same. The figures come from another model of the same engine,
// written before this one, and are rounded as they were then.
type published struct {
	rate     float64 // arrivals a second; capacity is 14.1
	requests int     // in the window
	cv       float64
	effect   float64
	other    float64
	same     float64
}

// TestLoadsHaveJobs repeats the published figures: with the load the effect
// of a slowdown grows, and the noise of a run grows faster. So the question
// "is the engine slower?" is asked at a quiet load, with replayed arrivals,
// and the load near the knee is for the SLO.
func TestLoadsHaveJobs(t *testing.T) {
	if ci.Race {
		t.Skip("arithmetic in one goroutine, many times slower under the race detector")
	}
	table := []published{
		{2, 300, 0.025, 0.104, 2.9, 3.5},
		{5, 300, 0.036, 0.115, 2.2, 3.0},
		{8, 300, 0.055, 0.131, 1.7, 2.8},
		{10, 300, 0.077, 0.149, 1.4, 2.5},
		{12, 300, 0.103, 0.184, 1.2, 2.3},
		{12.5, 300, 0.107, 0.190, 1.1, 2.3},
		{2, 1000, 0.024, 0.104, 3.1, 3.5},
		{5, 1000, 0.030, 0.115, 2.7, 3.0},
		{8, 1000, 0.041, 0.131, 2.3, 2.8},
		{10, 1000, 0.056, 0.149, 1.9, 2.5},
		{12, 1000, 0.081, 0.184, 1.6, 2.1},
		{12.5, 1000, 0.088, 0.190, 1.5, 2.2},
	}
	pairs := 400
	if os.Getenv("OPENLOOP_CALIBRATE") != "1" {
		table, pairs = []published{table[0], table[2], table[5]}, 60
	}
	printed := &strings.Builder{}
	fmt.Fprintf(printed, "%-26s %14s %16s %14s %14s\n", "load", "CV of a run", "effect of +10 %", "s/n, other", "s/n, same")
	for _, want := range table {
		asIs, slow := medians(t, 1, want, pairs), medians(t, 1.10, want, pairs)
		_, sd := stat.MeanStdDev(asIs, nil)
		differences := make([]float64, pairs)
		for i := range differences {
			differences[i] = slow[i] - asIs[i]
		}
		effect, sdSame := stat.MeanStdDev(differences, nil)
		other := effect / (sd * math.Sqrt2)
		same := effect / sdSame
		fmt.Fprintf(printed, "%4g req/s, %4d requests   %5.1f (%4.1f) %% %7.1f (%4.1f) %% %7.1f (%3.1f) %7.1f (%3.1f)\n",
			want.rate, want.requests, 100*sd, 100*want.cv, 100*math.Expm1(effect), 100*want.effect, other, want.other, same, want.same)

		// A standard deviation of n values is known to 1/√(2n), the published
		// one to about as much, and it is rounded to two digits.
		slack := 4*math.Sqrt(1/float64(pairs)) + 0.04
		near(t, want, "CV", sd, want.cv, slack)
		near(t, want, "effect", math.Expm1(effect), want.effect, 4*sdSame/math.Sqrt(float64(pairs))/effect+0.06)
		near(t, want, "s/n with other arrivals", other, want.other, slack)
		near(t, want, "s/n with the same arrivals", same, want.same, slack)
	}
	t.Logf("p50 TPOT, decode 10 %% slower, 2 %% noise of runs, %d pairs of runs; in brackets what is published\n%s", pairs, printed)
}

func near(t *testing.T, at published, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= relative) {
		t.Errorf("%g req/s, %d requests: %s %.4g, want %.4g ± %.0f %%", at.rate, at.requests, what, got, want, 100*relative)
	}
}

// medians are the logarithms of p50 TPOT of runs whose arrivals differ, each
// on an engine whose noise is constant within the run.
func medians(t *testing.T, slowdown float64, at published, runs int) []float64 {
	t.Helper()
	model, err := sim.NewModel(sim.Config{
		DevMode: true, DecodeSlowdown: slowdown, Seed: uint64(100 * slowdown),
		Noise: sim.Noise{Start: -1, Run: 0.02, Correlation: 1000 * time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	measured, err := benchtest.Run(t.Context(), model, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: at.rate}, Requests: at.requests, Settle: 400, Runs: runs,
	}, benchtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	logs := make([]float64, runs)
	for i, record := range measured.Records {
		value, err := record.Value("p50-tpot-sec")
		if err != nil {
			t.Fatal(err)
		}
		logs[i] = math.Log(value)
	}
	return logs
}
