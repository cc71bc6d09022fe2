package regressions_test

import (
	"time"

	"github.com/openloop-go/openloop/engines/sim"
)

// mutant is a build of the engine with something wrong. Whether a gate owes
// its detection follows from the effect that is measured, not from the name.
type mutant struct {
	name string
	is   func(c *sim.Config, f *sim.Faults)
	// starts is over how many starts its true effect is an average; zero is
	// one.
	starts int
	// shared is true where it shows only in prompts with a common prefix.
	shared bool
}

// mutants are modelled on regressions that slipped past others, whose sizes
// are in their names, and on every fault that the engine has.
var mutants = []mutant{
	// The engine is slower, by a little to a lot.
	{name: "decode +2 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.02 }},
	{name: "decode +3.1 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.031 }},
	{name: "decode +5 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.05 }},
	{name: "decode +8 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.08 }},
	{name: "decode +10 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.10 }},
	{name: "decode +15 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.15 }},
	{name: "decode +20 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.20 }},
	{name: "decode +33 %", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 1.33 }},
	{name: "decode ×2.2", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown = 2.2 }},
	{name: "prefill +10 %", is: func(c *sim.Config, f *sim.Faults) { c.PrefillSlowdown = 1.10 }},
	{name: "prefill +20 %", is: func(c *sim.Config, f *sim.Faults) { c.PrefillSlowdown = 1.20 }},
	{name: "prefill +75 %, decode +17 %", is: func(c *sim.Config, f *sim.Faults) { c.PrefillSlowdown, c.DecodeSlowdown = 1.75, 1.17 }},
	{name: "0.5 ms more a step", is: func(c *sim.Config, f *sim.Faults) { c.StepOverhead = 500 * time.Microsecond }},

	// Only at some loads.
	{name: "0.5 ms more a step, batch 1", is: func(c *sim.Config, f *sim.Faults) { c.StepOverhead, c.SlowToBatch = 500*time.Microsecond, 1 }},
	{name: "decode +8 %, batch 1", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown, c.SlowToBatch = 1.08, 1 }},
	{name: "prefill +33 %, batch 1", is: func(c *sim.Config, f *sim.Faults) { c.PrefillSlowdown, c.SlowToBatch = 1.33, 1 }},
	{name: "decode +12 %, batch 2 to 16", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown, c.SlowFromBatch, c.SlowToBatch = 1.12, 2, 16 }},
	{name: "decode +20 %, from batch 50", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown, c.SlowFromBatch = 1.20, 50 }},
	{name: "decode +10 %, from batch 32", is: func(c *sim.Config, f *sim.Faults) { c.DecodeSlowdown, c.SlowFromBatch = 1.10, 32 }},

	// One thing better and another worse.
	{name: "prefill −19 %, decode +21 %", is: func(c *sim.Config, f *sim.Faults) { c.PrefillSlowdown, c.DecodeSlowdown = 0.81, 1.21 }},
	{name: "prefill −19 %, decode +8 %", is: func(c *sim.Config, f *sim.Faults) { c.PrefillSlowdown, c.DecodeSlowdown = 0.81, 1.08 }},
	{name: "TTFT ×3, decode −10 %", is: func(c *sim.Config, f *sim.Faults) {
		c.DecodeSlowdown, f.TailShare, f.TailDelay = 0.90, 1, 78*time.Millisecond
	}},

	// Medians as before.
	{name: "stall of 400 ms each 10 s", is: func(c *sim.Config, f *sim.Faults) { f.StallEvery, f.StallFor = 10*time.Second, 400*time.Millisecond }},
	{name: "stall of 150 ms each 10 s", is: func(c *sim.Config, f *sim.Faults) { f.StallEvery, f.StallFor = 10*time.Second, 150*time.Millisecond }},
	{name: "stall of 2 s each minute", is: func(c *sim.Config, f *sim.Faults) { f.StallEvery, f.StallFor = time.Minute, 2*time.Second }},
	{name: "10 % wait 300 ms longer", is: func(c *sim.Config, f *sim.Faults) { f.TailShare, f.TailDelay = 0.10, 300*time.Millisecond }},
	{name: "2 % wait 1 s longer", is: func(c *sim.Config, f *sim.Faults) { f.TailShare, f.TailDelay = 0.02, time.Second }},
	{name: "4 tokens an event", is: func(c *sim.Config, f *sim.Faults) { f.TokensPerEvent = 4 }},

	// Less of something.
	{name: "prefix cache off", is: func(c *sim.Config, f *sim.Faults) { f.CacheOff = true }, shared: true},
	{name: "KV cache of 100,000 tokens", is: func(c *sim.Config, f *sim.Faults) { f.LostKVTokens = 300_000 }},
	{name: "48 slots of 64", is: func(c *sim.Config, f *sim.Faults) { f.LostSlots = 16 }},
	{name: "32 slots of 64", is: func(c *sim.Config, f *sim.Faults) { f.LostSlots = 32 }},
	{name: "token budget of 512", is: func(c *sim.Config, f *sim.Faults) { c.MaxBatchedTokens = 512 }},
	{name: "leak of 1 % in 100 requests", is: func(c *sim.Config, f *sim.Faults) { f.Leak = 1e-4 }},
	{name: "half the starts +15 %", is: func(c *sim.Config, f *sim.Faults) { f.SlowStartShare, f.SlowStartFactor = 0.5, 1.15 }, starts: 16},

	// The work is not done.
	{name: "outputs 5 % short", is: func(c *sim.Config, f *sim.Faults) { f.OutputCut = 0.05 }},
	{name: "1 % errors", is: func(c *sim.Config, f *sim.Faults) { f.ErrorShare = 0.01 }},
	{name: "3 % errors", is: func(c *sim.Config, f *sim.Faults) { f.ErrorShare = 0.03 }},
	{name: "5 % refused", is: func(c *sim.Config, f *sim.Faults) { f.RefuseShare = 0.05 }},
	{name: "1 % cut streams", is: func(c *sim.Config, f *sim.Faults) { f.CutShare = 0.01 }},
	{name: "2 % errors in the stream", is: func(c *sim.Config, f *sim.Faults) { f.StreamErrorShare = 0.02 }},
	{name: "a restart after 150 requests", is: func(c *sim.Config, f *sim.Faults) { f.RestartAfter, f.RestartDown = 150, 2*time.Second }},
	{name: "streams buffered", is: func(c *sim.Config, f *sim.Faults) { f.Buffered = true }},
	{name: "no token counts", is: func(c *sim.Config, f *sim.Faults) { f.NoUsage = true }},
	{name: "another model answers", is: func(c *sim.Config, f *sim.Faults) { f.AnswerModel = "meta-llama/Llama-3.2-1B" }},
}

// config is the mutant of an engine; the zero mutant changes nothing.
func (m mutant) config(noise sim.Noise, seed uint64) sim.Config {
	c := sim.Config{Noise: noise, Seed: seed}
	if m.is != nil {
		m.is(&c, &c.Faults)
	}
	return c
}
