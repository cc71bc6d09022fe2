package loads

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/assert/require"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/regressions"
)

// What TestCapacity printed: 14.1 req/s, 64 in flight.
const capacity benchtest.Capacity = 14 // req/s

var (
	chat = fixtures.Lengths{Prompt: fixtures.Fixed(2048), Output: fixtures.Fixed(256)}
	slo  = benchtest.SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}
	gate = regressions.Gate{Margin: 0.05}
)

// How much can the engine do? Asked once, and written down.
func TestCapacity(t *testing.T) {
	if os.Getenv("LOADS_PROBE") != "1" {
		t.Skip("set LOADS_PROBE=1 to probe: the capacity is a number in this file")
	}
	synctest.Test(t, func(t *testing.T) {
		engine := sim.New(t, sim.Config{DevMode: true, Seed: 1})
		probed, err := benchtest.ProbeCapacity(t.Context(), engine, benchtest.Probe{Workload: chat}, benchtest.Options{Log: t.Logf})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%v", probed)
	})
}

// Is a step slower, whatever the batch? One request in flight.
func alone(t benchtest.T, engine engines.Engine) bool {
	runs := benchtest.Measure(t, engine, capacity.Serial(chat))
	require.Valid(t, runs)
	return assert.NoRegression(t, runs, gate)
}

// Is the engine slower with a batch? A third of the capacity.
func batched(t benchtest.T, engine engines.Engine) bool {
	runs := benchtest.Measure(t, engine, capacity.Quiet(chat))
	require.Valid(t, runs)
	return assert.NoRegression(t, runs, gate)
}

// Does it keep up, and hold its SLO? Near the knee, where attainment as is is
// 95 %, and the arrivals, which are replayed, decide the rest.
func pressed(t benchtest.T, engine engines.Engine) bool {
	runs := benchtest.Measure(t, engine, capacity.Knee(chat))
	require.Valid(t, runs)
	sustained := assert.Sustained(t, runs)
	return assert.Attainment(t, runs, slo, 0.93) && sustained
}

// Three questions are put to engines that differ, each at its own load.
func TestQuestionsAtTheirLoads(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("go.mod", []byte("module example.com/perf\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		engine                  string
		config                  sim.Config
		update                  string
		alone, batched, pressed bool
	}{
		{"that of the baselines", sim.Config{Seed: 1}, "1", true, true, true},
		{"another start of it", sim.Config{Seed: 2}, "", true, true, true},
		{"decode 10 % slower", sim.Config{Seed: 3, DecodeSlowdown: 1.10}, "", false, false, false},
		{"decode 10 % slower, in a batch of one only", sim.Config{Seed: 4, DecodeSlowdown: 1.10, SlowToBatch: 1}, "", false, true, true},
		{"decode 20 % slower, above 50 in flight only", sim.Config{Seed: 5, DecodeSlowdown: 1.20, SlowFromBatch: 50}, "", true, true, false},
	} {
		for _, question := range []struct {
			name string
			ask  func(benchtest.T, engines.Engine) bool
			want bool
		}{{"alone", alone, row.alone}, {"batched", batched, row.batched}, {"pressed", pressed, row.pressed}} {
			t.Run(row.engine+", "+question.name, func(t *testing.T) {
				t.Setenv("OPENLOOP_UPDATE", row.update)
				t.Setenv("OPENLOOP_UPDATE_IN_CI", row.update)
				row.config.DevMode = true
				engine, err := sim.NewModel(row.config) // as sim.New, without HTTP
				if err != nil {
					t.Fatal(err)
				}
				asked := &heard{T: t, name: question.name}
				if got := question.ask(asked, engine); got != question.want {
					t.Errorf("held: %v, want %v; it said\n%s", got, question.want, strings.Join(asked.said, "\n"))
				}
			})
		}
	}
}

// heard is a test that goes by the name of its question, and whose failures
// are kept: here they may be what is wanted.
type heard struct {
	*testing.T
	name string
	said []string
}

func (h *heard) Name() string { return h.name }

func (h *heard) Errorf(format string, args ...any) { h.keep(format, args) }
func (h *heard) Logf(format string, args ...any)   { h.keep(format, args) }

func (h *heard) keep(format string, args []any) {
	h.said = append(h.said, fmt.Sprintf(format, args...))
}
