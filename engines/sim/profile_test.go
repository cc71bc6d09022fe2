package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// TestProfileHasTheWorkedNumbers holds the arithmetic of Llama-3-8B on an H100
// to the figures worked by hand, as rounded there.
func TestProfileHasTheWorkedNumbers(t *testing.T) {
	p := sim.Llama3H100
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	slow := p
	slow.Bandwidth /= 1.2
	for _, row := range []struct {
		name      string
		got, want float64
		off       float64 // half the last digit, of each rounded summand
	}{
		{"decode of one, no context: the floor", ms(p.DecodeStep(1, 0)), 4.48, .005},
		{"decode of 64 at 2,176 tokens", ms(p.DecodeStep(64, 2176)), 9.93, .005},
		{"prefill of 2,048 tokens", ms(p.Prefill(2048)), 31, .5},
		{"time of the engine a request takes", 1e3 / p.Capacity(64, 2048, 256), 70.7, .1},
		{"capacity", p.Capacity(64, 2048, 256), 14.1, .1},
		{"the same, decode 20 % slower", 1e3 / slow.Capacity(64, 2048, 256), 78.6, .1},
		{"capacity, decode 20 % slower", slow.Capacity(64, 2048, 256), 12.7, .05},
	} {
		if math.Abs(row.got-row.want) > row.off {
			t.Errorf("%s: %.4f, want %v", row.name, row.got, row.want)
		}
	}
}

// TestOneRequestTakesItsFloor follows a single request through an engine
// without noise, step by step.
func TestOneRequestTakesItsFloor(t *testing.T) {
	model, err := sim.NewModel(sim.Config{Noise: sim.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	p := sim.Llama3H100
	s := inArithmetic(model, load{rate: 1, prompt: 2048, output: 4}, 1)[0]
	want := time.Duration(1) // an idle engine starts a nanosecond after the arrival
	want += p.Prefill(2048)
	times := []time.Duration{want}
	for i := range 3 {
		want += p.DecodeStep(1, 2049+i)
		times = append(times, want)
	}
	for i, at := range times {
		if s.chunks[i].At != at {
			t.Errorf("token %d at %v, want %v", i, s.chunks[i].At, at)
		}
	}
	if len(s.chunks) != 5 || s.chunks[4].Token || s.reply.Closed != times[3] {
		t.Errorf("stream %+v, closed at %v; want 4 tokens, the counts, and an end with the last token", s.chunks, s.reply.Closed)
	}
}

// TestAStepAdmitsOnlyWhatArrivedBeforeIt: of two requests, one at the very
// time at which a step starts and one a nanosecond earlier, the step takes the
// earlier one.
func TestAStepAdmitsOnlyWhatArrivedBeforeIt(t *testing.T) {
	model, err := sim.NewModel(sim.Config{Noise: sim.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	prefill := sim.Llama3H100.Prefill(1024)
	start := 1 + prefill // of the second step
	first := map[string]time.Duration{}
	model.Simulate(func(yield func(engines.Arrival) bool) {
		for i, at := range []time.Duration{0, start - 1, start} {
			tokens := make([]int32, 1024)
			tokens[0] = int32(i)
			if !yield(engines.Arrival{At: at, Request: &engines.Request{ID: string(rune('a' + i)), Tokens: tokens, MaxTokens: 1}}) {
				return
			}
		}
	}, func(o engines.Outcome) { first[o.Request.ID] = o.Chunks[0].At })
	if first["a"] != start || first["b"] != start+prefill || first["c"] != start+2*prefill {
		t.Errorf("first tokens at %v; want a at %v, b at %v, c at %v", first, start, start+prefill, start+2*prefill)
	}
}

// TestRequestsOfOneInstantGoInOrderOfTheirIDs, whatever the order in which
// they are handed over.
func TestRequestsOfOneInstantGoInOrderOfTheirIDs(t *testing.T) {
	model, err := sim.NewModel(sim.Config{Noise: sim.Quiet, MaxNumSeqs: 1})
	if err != nil {
		t.Fatal(err)
	}
	var ended []string
	model.Simulate(func(yield func(engines.Arrival) bool) {
		for _, id := range []string{"c", "a", "d", "b"} {
			if !yield(engines.Arrival{At: time.Second, Request: &engines.Request{ID: id, Tokens: []int32{1, 2, 3}, MaxTokens: 2}}) {
				return
			}
		}
	}, func(o engines.Outcome) { ended = append(ended, o.Request.ID) })
	if got := ended[0] + ended[1] + ended[2] + ended[3]; got != "abcd" {
		t.Errorf("served in order %q, want abcd", got)
	}
}

func TestPreemptionComputesAnewAndLosesNothing(t *testing.T) {
	model, err := sim.NewModel(sim.Config{Noise: sim.Quiet, KVTokens: 1024, MaxModelLen: 1024})
	if err != nil {
		t.Fatal(err)
	}
	streams := inArithmetic(model, load{rate: 1000, prompt: 300, output: 200, seed: 1}, 6)
	for i, s := range streams {
		if s.err != nil || s.tokens() != 200 {
			t.Errorf("request %d: %d tokens, %v", i, s.tokens(), s.err)
		}
	}
	c, _ := model.Scrape(t.Context())
	if c.Preemptions.N == 0 || c.OutputTokens.N != 6*200 || c.PromptTokens.N != 6*300 {
		t.Errorf("counters %+v; want preemptions, 1,200 tokens of output, 1,800 of prompts", c)
	}
}
