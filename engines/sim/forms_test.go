package sim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// stream is what a client saw of one request.
type stream struct {
	chunks []engines.Chunk
	reply  engines.Reply
	err    error
}

// tokens is the number of token events.
func (s stream) tokens() (n int) {
	for _, c := range s.chunks {
		if c.Token {
			n++
		}
	}
	return n
}

func class(err error) engines.Class {
	e := (*engines.Error)(nil)
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}

// overHTTP sends the load's first n requests at their times and returns what
// came back, with times since the first arrival. It must run in a bubble.
func overHTTP(engine engines.Engine, l load, n int) []stream {
	out := make([]stream, n)
	request := l.requests(false)
	origin := time.Now()
	stamp := func() time.Duration { return time.Since(origin) }
	var wg sync.WaitGroup
	i := 0
	for at := range l.schedule() {
		if i == n {
			break
		}
		time.Sleep(at - stamp())
		r := request(i)
		r.Stamp = stamp
		s := &out[i]
		wg.Go(func() {
			s.reply, s.err = engine.Generate(context.Background(), r, func(c engines.Chunk) { s.chunks = append(s.chunks, c) })
		})
		i++
	}
	wg.Wait()
	return out
}

// inArithmetic is overHTTP without HTTP.
func inArithmetic(engine engines.Simulator, l load, n int) []stream {
	out := make([]stream, n)
	request := l.requests(true)
	index := map[*engines.Request]int{}
	engine.Simulate(func(yield func(engines.Arrival) bool) {
		i := 0
		for at := range l.schedule() {
			if i == n {
				return
			}
			r := request(i)
			index[r] = i
			if !yield(engines.Arrival{At: at, Request: r}) {
				return
			}
			i++
		}
	}, func(o engines.Outcome) {
		s := &out[index[o.Request]]
		s.reply, s.err = o.Reply, o.Err
		s.chunks = slices.Clone(o.Chunks)
	})
	return out
}

// differ says how the two forms of one request differ; what only HTTP has,
// its connections, is left out.
func differ(http, plain stream) error {
	h, p := http.reply, plain.reply
	h.NewConnection, h.Connect, h.Warnings = false, 0, nil
	switch {
	case class(http.err) != class(plain.err):
		return fmt.Errorf("HTTP ended with %v, arithmetic with %v", http.err, plain.err)
	case fmt.Sprintf("%+v", h) != fmt.Sprintf("%+v", p):
		return fmt.Errorf("replies\n%+v over HTTP,\n%+v in arithmetic", h, p)
	case len(http.chunks) != len(plain.chunks):
		return fmt.Errorf("%d events over HTTP, %d in arithmetic", len(http.chunks), len(plain.chunks))
	}
	for i := range http.chunks {
		if http.chunks[i] != plain.chunks[i] {
			return fmt.Errorf("event %d: %+v over HTTP, %+v in arithmetic", i, http.chunks[i], plain.chunks[i])
		}
	}
	return nil
}

// bothForms serves the load in both forms, which must agree in every event
// and every nanosecond, and returns it.
func bothForms(t *testing.T, cfg sim.Config, l load, n int) []stream {
	t.Helper()
	cfg.DevMode = true
	model, err := sim.NewModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	// The client that is attached over HTTP has asked for one generation, to see
	// that the engine is ready; and a flush is where a run's noise begins.
	if _, err := model.Generate(t.Context(), &engines.Request{Tokens: []int32{1, 2, 3, 4, 5, 6, 7, 8}, MaxTokens: 2, IgnoreEOS: true}, func(engines.Chunk) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	plain := inArithmetic(model, l, n)
	var http []stream
	var counters engines.Counters
	synctest.Test(t, func(t *testing.T) {
		m := sim.New(t, cfg)
		if _, err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		http = overHTTP(m, l, n)
		counters, err = m.Scrape(t.Context())
		if err != nil {
			t.Error(err)
		}
	})
	for i := range plain {
		if err := differ(http[i], plain[i]); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	if mine, err := model.Scrape(t.Context()); err != nil || counters != mine {
		t.Errorf("counters %+v over HTTP, %+v in arithmetic, %v", counters, mine, err)
	}
	return plain
}

// brief is a load that is quick to serve over HTTP, with a queue.
var brief = load{rate: 40, prompt: 600, output: 48, seed: 11}

func TestFormsAgreeToTheNanosecond(t *testing.T) {
	for _, row := range []struct {
		name string
		cfg  sim.Config
		load load
		n    int
	}{
		{"the default profile at 12.5 req/s", sim.Config{Seed: 3}, chat.at(12.5, 5), 300},
		{"another seed", sim.Config{Seed: 4}, chat.at(12.5, 6), 100},
		{"SGLang's flavor", sim.Config{Flavor: sim.SGLang, Seed: 5}, brief, 150},
		{"decode 10 % slower", sim.Config{DecodeSlowdown: 1.1, Seed: 3}, brief, 150},
		{"without noise", sim.Config{Noise: sim.Quiet}, brief, 150},
		{"noise of every kind", sim.Config{Noise: sim.Noise{Start: .05, Run: .05, Step: .05, Correlation: time.Second}, Seed: 9}, brief, 150},
		{"few slots and a small budget", sim.Config{MaxNumSeqs: 4, MaxBatchedTokens: 256}, brief, 100},
		{"too little KV memory, with preemptions", sim.Config{KVTokens: 2048, MaxModelLen: 1024}, load{rate: 200, prompt: 300, output: 200, seed: 2}, 60},
		{"SGLang's flavor, with preemptions", sim.Config{Flavor: sim.SGLang, KVTokens: 2048, MaxModelLen: 1024}, load{rate: 200, prompt: 300, output: 200, seed: 2}, 60},
		{"compilations", sim.Config{CompileCost: 200 * time.Millisecond}, brief, 100},
		{"a profile of its own", sim.Config{Profile: sim.Profile{WeightBytes: 1e9, KVBytes: 1e4, Bandwidth: 1e11, Parameters: 5e8, FLOPS: 1e13}}, brief, 50},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i, s := range bothForms(t, row.cfg, row.load, row.n) {
				if s.err != nil || s.tokens() != row.load.output {
					t.Fatalf("request %d: %d tokens, %v", i, s.tokens(), s.err)
				}
			}
		})
	}
}
