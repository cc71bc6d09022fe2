package sim_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

func TestFormsAgreeInAClosedLoop(t *testing.T) {
	cfg := sim.Config{DevMode: true, Seed: 2}
	l := load{inFlight: 6, window: 60, prompt: 600, output: 32, seed: 4}
	model, err := sim.NewModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = model.Flush(t.Context())
	plain := l.run(model)

	http := make([]stream, l.window)
	synctest.Test(t, func(t *testing.T) {
		m := sim.New(t, cfg)
		_, _ = m.Flush(t.Context())
		origin := time.Now()
		var mu sync.Mutex
		var wg sync.WaitGroup
		request := l.requests(false)
		var next func()
		sent := 0
		next = func() { // called with mu held
			if sent == l.window {
				return
			}
			i := sent
			sent++
			r := request(i)
			r.Stamp = func() time.Duration { return time.Since(origin) }
			wg.Go(func() {
				s := &http[i]
				s.reply, s.err = m.Generate(context.Background(), r, func(c engines.Chunk) { s.chunks = append(s.chunks, c) })
				mu.Lock()
				defer mu.Unlock()
				next()
			})
		}
		mu.Lock()
		for range l.inFlight {
			next()
		}
		mu.Unlock()
		wg.Wait()
	})
	// Requests that end at one instant free their slots in any order, so that
	// those sent then may have swapped places: as a multiset the times agree.
	var a, b []time.Duration
	for i := range plain {
		a = append(a, plain[i].first, plain[i].last)
		for _, c := range http[i].chunks {
			if c.Token {
				b = append(b, c.At)
				break
			}
		}
		b = append(b, http[i].chunks[len(http[i].chunks)-1].At)
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("times\n%v in arithmetic,\n%v over HTTP", a, b)
	}
}

func TestTheSameSeedGivesTheSameRunTwice(t *testing.T) {
	run := func(seed uint64) []stream {
		model, err := sim.NewModel(sim.Config{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return inArithmetic(model, brief, 80)
	}
	first, second, other := run(1), run(1), run(2)
	same := 0
	for i := range first {
		if err := differ(first[i], second[i]); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if first[i].chunks[20] == other[i].chunks[20] {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d of %d requests have the same times with another seed", same, len(first))
	}
}

// TestADriverThatPanicsLeavesTheModelUsable, with nothing of its load in it.
func TestADriverThatPanicsLeavesTheModelUsable(t *testing.T) {
	model, err := sim.NewModel(sim.Config{Noise: sim.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not come through")
			}
		}()
		model.Simulate(func(yield func(engines.Arrival) bool) {
			for i := range 10 {
				if !yield(engines.Arrival{At: time.Duration(i) * 20 * time.Millisecond, Request: ask("a", 100, 10+i)}) {
					return
				}
			}
		}, func(engines.Outcome) { panic("in the driver") })
	}()
	if l, err := model.Load(t.Context()); err != nil || !l.Idle() {
		t.Errorf("load %+v, %v; want idle", l, err)
	}
	n := 0
	reply, err := model.Generate(t.Context(), ask("b", 50, 5), func(engines.Chunk) { n++ })
	if err != nil || reply.OutputTokens.N != 5 || n != 6 {
		t.Errorf("afterwards: %+v, %d events, %v", reply, n, err)
	}
}
