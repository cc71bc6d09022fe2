package benchtest_test

import (
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
)

// Durations at an overload grow with the queue, so that no settle is three of
// them long: the run is for the stability verdict, not invalid with a remedy
// that runs ahead of whoever follows it. A settle too short at a load that
// the engine can do is.
func TestASettleIsNotTooShortForAnOverload(t *testing.T) {
	for _, row := range []struct {
		load    string
		rate    float64
		settle  int
		problem string
		state   steady.State
	}{
		{"twice the capacity", 28, 100, "", steady.Growing},
		{"five times the capacity", 70, 800, "", steady.Growing},
		{"at the knee", 12.5, 20, "too-short", ""},
		{"a third of the capacity", 4, 2, "too-short", ""},
	} {
		t.Run(row.load, func(t *testing.T) {
			model, err := sim.NewModel(sim.Config{DevMode: true, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			runs, err := benchtest.Run(t.Context(), model, benchtest.Point{
				Workload: fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)},
				Arrivals: arrival.Poisson{Rate: row.rate}, Requests: 2000, Settle: row.settle, Runs: 1,
				Drain: 1000 * time.Minute,
			}, benchtest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, problem := range runs.Records[0].Problems {
				got += problem.Kind
			}
			if got != row.problem {
				t.Errorf("problems %q, want %q: %v", got, row.problem, runs.Records[0].Problems)
			}
			if row.state == "" {
				return
			}
			verdict, err := steady.JudgeRecords(runs.Records...)
			if err != nil {
				t.Fatal(err)
			}
			if verdict.State != row.state {
				t.Errorf("the queue is %s, want %s", verdict.State, row.state)
			}
		})
	}
}
