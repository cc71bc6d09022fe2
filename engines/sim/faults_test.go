package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// seen are the figures by which faults show.
type seen struct {
	tpot, ttft, p99ttft time.Duration
	steps               []time.Duration // gaps between token events, sorted
	tokens, cached      int
	classes             map[engines.Class]int
	finishes            map[string]int
}

func look(streams []stream) seen {
	s := seen{classes: map[engines.Class]int{}, finishes: map[string]int{}}
	var tpots, ttfts []time.Duration
	for _, r := range streams {
		s.classes[class(r.err)]++
		s.finishes[r.reply.Finish]++
		s.cached += r.reply.CachedTokens.N
		var last time.Duration
		n := 0
		for _, c := range r.chunks {
			if !c.Token {
				continue
			}
			if n++; n == 1 {
				ttfts = append(ttfts, c.At-r.reply.Sent)
			} else {
				s.steps = append(s.steps, c.At-last)
			}
			last = c.At
		}
		s.tokens += n
		if n > 1 {
			tpots = append(tpots, (last-r.reply.FirstEvent)/time.Duration(n-1))
		}
	}
	for _, x := range [][]time.Duration{tpots, ttfts, s.steps} {
		slices.Sort(x)
	}
	at := func(x []time.Duration, p float64) time.Duration {
		if len(x) == 0 {
			return 0
		}
		return x[int(p*float64(len(x)-1))]
	}
	s.tpot, s.ttft, s.p99ttft = at(tpots, .5), at(ttfts, .5), at(ttfts, .99)
	return s
}

func near(got, want time.Duration, share float64) bool {
	return float64(got) >= float64(want)*(1-share) && float64(got) <= float64(want)*(1+share)
}

func slower(base, got time.Duration) float64 { return float64(got)/float64(base) - 1 }

// quiet is a load with little in flight, so that a slowdown's effect is its
// own size.
var quiet = load{rate: 2, prompt: 2048, output: 64, seed: 3}

// TestEachFaultShows serves a load with each fault and slowdown, over HTTP and
// in arithmetic alike, and looks for what it should do beside an engine
// without it.
func TestEachFaultShows(t *testing.T) {
	const n = 60
	for _, row := range []struct {
		name string
		load load
		cfg  func(*sim.Config)
		want func(base, got seen) bool
	}{
		{"decode 20 % slower: TPOT", quiet, func(c *sim.Config) { c.DecodeSlowdown = 1.2 }, func(base, got seen) bool {
			return slower(base.tpot, got.tpot) > .18 && slower(base.tpot, got.tpot) < .24 && slower(base.ttft, got.ttft) < .05
		}},
		{"prefill 50 % slower: TTFT", quiet, func(c *sim.Config) { c.PrefillSlowdown = 1.5 }, func(base, got seen) bool {
			return slower(base.ttft, got.ttft) > .4 && slower(base.tpot, got.tpot) < .2
		}},
		{"prefill faster and decode slower: TTFT better, TPOT worse", quiet, func(c *sim.Config) { c.PrefillSlowdown, c.DecodeSlowdown = .8, 1.2 }, func(base, got seen) bool {
			return slower(base.ttft, got.ttft) < -.1 && slower(base.tpot, got.tpot) > .1
		}},
		{"overhead of every step", quiet, func(c *sim.Config) { c.StepOverhead = time.Millisecond }, func(base, got seen) bool {
			return near(got.tpot-base.tpot, time.Millisecond, .15)
		}},
		{"a slowdown of small batches only", quiet, func(c *sim.Config) { c.DecodeSlowdown, c.SlowToBatch = 1.3, 4 }, func(base, got seen) bool {
			return slower(base.tpot, got.tpot) > .25
		}},
		{"a slowdown of large batches only, at a quiet load", quiet, func(c *sim.Config) { c.DecodeSlowdown, c.SlowFromBatch = 1.3, 20 }, func(base, got seen) bool {
			return base.tpot == got.tpot && base.ttft == got.ttft
		}},
		{"a slowdown of large batches only, at a large one", brief, func(c *sim.Config) { c.DecodeSlowdown, c.SlowFromBatch = 2, 12 }, func(base, got seen) bool {
			return slower(base.tpot, got.tpot) > .1
		}},
		{"stalls: the longest gaps, not the median", quiet, func(c *sim.Config) {
			c.Faults.StallEvery, c.Faults.StallFor = 500*time.Millisecond, 50*time.Millisecond
		}, func(base, got seen) bool {
			m := len(got.steps)
			return slower(base.steps[m/2], got.steps[m/2]) < .02 && got.steps[m-1] > 55*time.Millisecond
		}},
		{"a tail: p99 TTFT, not the median", quiet, func(c *sim.Config) {
			c.Faults.TailShare, c.Faults.TailDelay = .1, time.Second
		}, func(base, got seen) bool {
			return got.p99ttft > time.Second && slower(base.ttft, got.ttft) < .1
		}},
		{"a leak: the last steps are slower than the first", quiet, func(c *sim.Config) { c.Faults.Leak = .01 }, func(base, got seen) bool {
			return slower(base.tpot, got.tpot) > .15
		}},
		{"slow starts", quiet, func(c *sim.Config) { c.Faults.SlowStartShare, c.Faults.SlowStartFactor = 1, 1.3 }, func(base, got seen) bool {
			return slower(base.tpot, got.tpot) > .28
		}},
		{"fewer slots: a queue", brief, func(c *sim.Config) { c.Faults.LostSlots = 61 }, func(base, got seen) bool {
			return slower(base.p99ttft, got.p99ttft) > 1
		}},
		{"less KV memory: a queue", brief, func(c *sim.Config) { c.Faults.LostKVTokens = 400_000 - 1600 }, func(base, got seen) bool {
			return slower(base.p99ttft, got.p99ttft) > 1
		}},
		{"outputs cut short", quiet, func(c *sim.Config) { c.Faults.OutputCut = .25 }, func(base, got seen) bool {
			return got.tokens == n*48 && got.finishes["stop"] == n && got.classes[""] == n
		}},
		{"errors", brief, func(c *sim.Config) { c.Faults.ErrorShare = .3 }, func(_, got seen) bool {
			return got.classes[engines.Status] > 8 && got.classes[engines.Status]+got.classes[""] == n
		}},
		{"refusals", brief, func(c *sim.Config) { c.Faults.RefuseShare, c.Faults.RefuseStatus = .3, 503 }, func(_, got seen) bool {
			return got.classes[engines.Refused] > 8 && got.classes[engines.Refused]+got.classes[""] == n
		}},
		{"refusals while many wait: the rest are faster", load{rate: 300, prompt: 600, output: 48, seed: 11}, func(c *sim.Config) {
			c.MaxNumSeqs, c.Faults.RefuseAbove = 8, 2
		}, func(base, got seen) bool {
			return got.classes[engines.Refused] > 20 && slower(base.p99ttft, got.p99ttft) < 0
		}},
		{"error objects inside streams", brief, func(c *sim.Config) { c.Faults.StreamErrorShare = .3 }, func(_, got seen) bool {
			bad := got.classes[engines.ServerError]
			return bad > 8 && got.tokens == (n-bad)*48+bad*24
		}},
		{"streams cut", brief, func(c *sim.Config) { c.Faults.CutShare = .3 }, func(_, got seen) bool {
			bad := got.classes[engines.Truncated]
			return bad > 8 && got.tokens == (n-bad)*48+bad*24
		}},
		{"connections reset", brief, func(c *sim.Config) { c.Faults.ResetShare = .3 }, func(_, got seen) bool {
			bad := got.classes[engines.Reset]
			return bad > 8 && got.tokens == (n-bad)*48+bad*24
		}},
		{"buffered streams: no gaps", brief, func(c *sim.Config) { c.Faults.Buffered = true }, func(_, got seen) bool {
			return got.steps[len(got.steps)-1] == 0 && got.tokens == n*48
		}},
		{"several tokens an event", brief, func(c *sim.Config) { c.Faults.TokensPerEvent = 4 }, func(_, got seen) bool {
			return got.tokens == n*13 // 1 + 11 × 4 + 3
		}},
		{"no counts", brief, func(c *sim.Config) { c.Faults.NoUsage = true }, func(_, got seen) bool {
			return got.tokens == n*48 && got.classes[""] == n
		}},
		{"a restart in the middle", brief, func(c *sim.Config) {
			c.Faults.RestartAfter, c.Faults.RestartDown = 20, 300*time.Millisecond
		}, func(_, got seen) bool {
			return got.classes[engines.Reset] > 0 && got.classes[engines.Refused] > 0 && got.classes[""] > 30
		}},
		{"another model answers", brief, func(c *sim.Config) { c.Faults.AnswerModel = "someone/else" }, func(_, got seen) bool {
			return got.classes[""] == n
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			cfg := sim.Config{Seed: 21}
			if row.load.rate == 300 {
				cfg.MaxNumSeqs = 8
			}
			base := look(bothForms(t, cfg, row.load, n))
			row.cfg(&cfg)
			streams := bothForms(t, cfg, row.load, n)
			if got := look(streams); !row.want(base, got) {
				t.Errorf("does not show: TPOT %v → %v, TTFT %v → %v, p99 TTFT %v → %v, tokens %d → %d, classes %v, finishes %v",
					base.tpot, got.tpot, base.ttft, got.ttft, base.p99ttft, got.p99ttft, base.tokens, got.tokens, got.classes, got.finishes)
			}
			for i, s := range streams {
				r := s.reply
				switch {
				case s.err != nil:
				case cfg.Faults.NoUsage == r.OutputTokens.Known, (cfg.Faults.NoUsage || cfg.Faults.HideCached) == r.CachedTokens.Known:
					t.Fatalf("request %d: counts %+v", i, r)
				case cfg.Faults.AnswerModel != "" && r.Model != cfg.Faults.AnswerModel:
					t.Fatalf("request %d: model %q", i, r.Model)
				}
			}
		})
	}
}

// TestFaultsOfTheCacheShow sends the same prompts twice, with a flush between
// or without.
func TestFaultsOfTheCacheShow(t *testing.T) {
	const n = 20
	warm := n * 2032              // all whole blocks but the last, whose end must be computed
	shared, warmer := n-1, n*2047 // SGLang's blocks have one token, and all prompts begin with the same one
	for _, row := range []struct {
		name    string
		cfg     sim.Config
		flush   bool
		outcome engines.FlushOutcome
		cached  int
	}{
		{"a warm cache", sim.Config{DevMode: true}, false, "", warm},
		{"a flushed one", sim.Config{DevMode: true}, true, engines.Flushed, 0},
		{"one that SGLang flushed", sim.Config{Flavor: sim.SGLang}, true, engines.Flushed, shared},
		{"a flush without development mode", sim.Config{}, true, engines.FlushUnsupported, warm},
		{"a flush that lies", sim.Config{DevMode: true, Faults: sim.Faults{FlushLies: true}}, true, engines.Flushed, warm},
		{"a flush that refuses", sim.Config{DevMode: true, Faults: sim.Faults{FlushRefusals: 1}}, true, engines.FlushRefused, warm},
		{"a flush that always refuses", sim.Config{Flavor: sim.SGLang, Faults: sim.Faults{FlushRefusals: -1}}, true, engines.FlushRefused, warmer},
		{"a flush that does not say", sim.Config{DevMode: true, Faults: sim.Faults{FlushEmptyBody: true}}, true, engines.FlushUnverified, 0},
		{"a refusal that does not say", sim.Config{DevMode: true, Faults: sim.Faults{FlushEmptyBody: true, FlushRefusals: 1}}, true, engines.FlushUnverified, warm},
		{"SGLang without a text", sim.Config{Flavor: sim.SGLang, Faults: sim.Faults{FlushEmptyBody: true}}, true, engines.Flushed, shared},
		{"no cache", sim.Config{DevMode: true, Faults: sim.Faults{CacheOff: true}}, false, "", 0},
		{"a cache cut too small", sim.Config{DevMode: true, MaxModelLen: 3000, Faults: sim.Faults{LostKVTokens: 400_000 - 4800}}, false, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			twice := func(serve func() []stream, flush func() (engines.Flush, error)) error {
				cold, first := look(serve()), map[bool]int{true: shared}[row.cfg.Flavor == sim.SGLang]
				var f engines.Flush
				if row.flush {
					var err error
					if f, err = flush(); err != nil {
						return err
					}
				}
				if again := look(serve()); cold.cached != first || f.Outcome != row.outcome || again.cached != row.cached {
					return fmt.Errorf("cached %d at first, then %+v, then %d; want %d, %q, %d", cold.cached, f, again.cached, first, row.outcome, row.cached)
				}
				return nil
			}
			model, err := sim.NewModel(row.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := twice(func() []stream { return inArithmetic(model, quiet, n) }, func() (engines.Flush, error) { return model.Flush(t.Context()) }); err != nil {
				t.Errorf("in arithmetic: %v", err)
			}
			inBubble(t, row.cfg, func(t *testing.T, m *sim.Memory) {
				if err := twice(func() []stream { return overHTTP(m, quiet, n) }, func() (engines.Flush, error) { return m.Flush(t.Context()) }); err != nil {
					t.Errorf("over HTTP: %v", err)
				}
			})
		})
	}
}
