package quickstart

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/regressions"
)

// TestCounts puts the gate of TestDecodeDidNotSlowDown to 200 engines whose
// decode is 10 % slower and to 200 that are as the baseline's, each with noise
// of its own, and counts what it says.
func TestCounts(t *testing.T) {
	if os.Getenv("QUICKSTART_COUNTS") != "1" {
		t.Skip("set QUICKSTART_COUNTS=1 to judge 400 engines")
	}
	const engines = 200
	slowed := count(t, 1.10, engines)
	t.Logf("decode 10 %% slower: %v", slowed)
	if got := slowed["regressed"]; got < 195 {
		t.Errorf("decode 10 %% slower: regressed %d times of %d, want at least 195", got, engines)
	}
	asIs := count(t, 1, engines)
	t.Logf("as is: %v", asIs)
	if got := engines - asIs["pass"] - asIs["improved"]; got > 5 {
		t.Errorf("as is: %d of %d are not green, want at most 5", got, engines)
	}
}

// count judges engines of different noise and counts the verdicts, the first
// word of each.
func count(t *testing.T, slowdown float64, engines int) map[string]int {
	t.Helper()
	verdicts := make([]string, engines)
	failures := make([]error, engines)
	var wait sync.WaitGroup
	room := make(chan struct{}, 2)
	for i := range engines {
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			verdicts[i], failures[i] = judge(t, sim.Config{
				DevMode: true, DecodeSlowdown: slowdown, Seed: uint64(1000 + i),
			})
		})
	}
	wait.Wait()
	counts := map[string]int{}
	for i, verdict := range verdicts {
		if failures[i] != nil {
			t.Fatalf("engine %d: %v", i, failures[i])
		}
		counts[verdict]++
	}
	return counts
}

// judge is TestDecodeDidNotSlowDown on one engine, in arithmetic.
func judge(t *testing.T, cfg sim.Config) (string, error) {
	model, err := sim.NewModel(cfg)
	if err != nil {
		return "", err
	}
	runs, err := benchtest.Run(t.Context(), model, benchtest.Point{
		Workload: chat, Arrivals: arrival.Poisson{Rate: 4}, Requests: 300,
	}, benchtest.Options{Test: "TestDecodeDidNotSlowDown"})
	if err != nil {
		return "", err
	}
	var said said
	assert.NoRegression(&said, runs, regressions.Gate{Margin: 0.05})
	verdict, _, found := strings.Cut(strings.TrimSpace(said.text), ":")
	if !found {
		return "", fmt.Errorf("no verdict in %q", said.text)
	}
	return verdict, nil
}

// said is a test that keeps what an assertion says, green or not.
type said struct{ text string }

func (s *said) Errorf(format string, args ...any) { s.text += fmt.Sprintf(format, args...) }
func (s *said) Logf(format string, args ...any)   { s.text += fmt.Sprintf(format, args...) }
