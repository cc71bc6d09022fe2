package sim_test

import (
	"context"
	"errors"
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
	request := l.requests(false)
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
		s.chunks = append(s.chunks, o.Chunks...)
	})
	return out
}

func class(err error) engines.Class {
	e := (*engines.Error)(nil)
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}

func TestFormsX(t *testing.T) {
	cfg := sim.Config{DevMode: true, Seed: 3}
	l := chat.at(12.5, 5)
	const n = 500
	var http, plain []stream
	t0 := time.Now()
	synctest.Test(t, func(t *testing.T) {
		m := sim.New(t, cfg)
		f, err := m.Flush(t.Context())
		t.Log(f, err)
		http = overHTTP(m, l, n)
	})
	t.Log("http", time.Since(t0))
	model, _ := sim.NewModel(cfg)
	t.Log(model.Flush(t.Context()))
	t0 = time.Now()
	plain = inArithmetic(model, l, n)
	t.Log("plain", time.Since(t0))
	bad := 0
	for i := range plain {
		a, b := plain[i], http[i]
		if i == 0 {
			t.Log(b.chunks[254:], a.chunks[254:])
			t.Logf("%+v\n%+v", a.reply, b.reply)
		}
		if a.err != nil || b.err != nil || len(a.chunks) != len(b.chunks) {
			t.Fatal(i, a.err, b.err, len(a.chunks), len(b.chunks))
		}
		for j := range a.chunks {
			if a.chunks[j] != b.chunks[j] {
				bad++
				if bad < 5 {
					t.Error(i, j, a.chunks[j], b.chunks[j])
				}
			}
		}
		if i < 1 {
			t.Logf("%+v\n%+v", a.reply, b.reply)
		}
	}
	t.Log("bad", bad)
}
