package doctor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// Others who use the server are noticed, and not taken for its faults.
func TestAServerThatOthersUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := besideOthers(t, sim.Config{DevMode: true})
		if got, want := wrong(report), []string{"warn idle", "warn flush", "unknown counters"}; report.Verdict() != doctor.Measurable || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", report.Verdict(), got, want)
		}
		golden(t, "vllm that others use", text(report))
	})
	synctest.Test(t, func(t *testing.T) {
		report := besideOthers(t, sim.Config{DevMode: true, Faults: sim.Faults{StallEvery: 100 * time.Millisecond, StallFor: 400 * time.Millisecond}})
		const want = "look again when nobody else uses the server: their prompts may be what it stops for; else find out what stops the engine"
		if f := report.Find("stalls"); f.Status != doctor.Warn || !strings.HasPrefix(f.Remedy, want) {
			t.Error(f)
		}
	})
}

// besideOthers is what is said of an engine that two streams of others use.
func besideOthers(t *testing.T, cfg sim.Config) *doctor.Report {
	t.Helper()
	dial := serve(t, cfg)
	other, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://server.invalid", Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 2 {
		go func() {
			for j := 0; ctx.Err() == nil; j++ {
				r := &engines.Request{ID: fmt.Sprint(i, j), Tokens: []int32{int32(i), int32(j)}, MaxTokens: 1000, IgnoreEOS: true}
				_, _ = other.Generate(ctx, r, func(engines.Chunk) {})
			}
		}()
	}
	time.Sleep(time.Second)
	return examine(t, sim.Config{}, func(c *doctor.Config) { c.Dial = dial })
}
