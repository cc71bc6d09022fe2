package sim_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// load is a run to put an engine under: fixed lengths and Poisson arrivals,
// or a closed loop when inFlight is set.
type load struct {
	rate           float64
	inFlight       int
	settle, window int
	prompt, output int
	seed           uint64
}

var chat = load{settle: 400, window: 2000, prompt: 2048, output: 256}

func (l load) at(rate float64, seed uint64) load { l.rate, l.seed = rate, seed; return l }

// served is what a test keeps of a request.
type served struct {
	at, first, last time.Duration
	tokens          int
	reply           engines.Reply
	err             error
}

func (s served) ttft() float64 { return (s.first - s.at).Seconds() }
func (s served) tpot() float64 { return (s.last - s.first).Seconds() / float64(s.tokens-1) }

// requests is the load's requests in order. The first block of a prompt tells
// it from all others; the rest is the same, and drawn once. Where the engine is
// arithmetic and has done with a prompt when it pulls the next arrival, shared
// says that all may lie in the same memory.
func (l load) requests(shared bool) func(i int) *engines.Request {
	base := make([]int32, l.prompt)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range base {
		base[i] = 1000 + int32(r.IntN(20000))
	}
	return func(i int) *engines.Request {
		tokens := base
		if !shared {
			tokens = slices.Clone(base)
		}
		tokens[0], tokens[1], tokens[2] = int32(l.seed%100_000), int32(i), int32(l.seed>>32%100_000)
		return &engines.Request{ID: fmt.Sprintf("r%06d", i), Tokens: tokens, MaxTokens: l.output, MinTokens: l.output, IgnoreEOS: true}
	}
}

// schedule is the load's arrival times.
func (l load) schedule() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		r := rand.New(rand.NewPCG(l.seed, 7))
		for at := 0.0; yield(time.Duration(at * 1e9)); {
			at += r.ExpFloat64() / l.rate
		}
	}
}

// run serves the load and returns its requests, in order of arrival: first the
// settle, then the window. An open loop goes on arriving until all of the
// window have ended.
func (l load) run(engine engines.Simulator) []served {
	total := l.settle + l.window
	out := make([]served, 0, total)
	index := make(map[*engines.Request]int, total)
	left := l.window
	request := l.requests(true)
	free := l.inFlight
	var now time.Duration
	done := func(o engines.Outcome) {
		free++
		now = o.Reply.Closed
		i := index[o.Request]
		if i >= total {
			return
		}
		s := &out[i]
		s.reply, s.err, s.tokens = o.Reply, o.Err, len(o.Chunks)
		if n := len(o.Chunks); n > 0 {
			s.first, s.last = o.Chunks[0].At, o.Chunks[n-1].At
		}
		if i >= l.settle {
			left--
		}
	}
	next := func(i int, at time.Duration) engines.Arrival {
		r := request(i)
		index[r] = i
		if i < total {
			out = append(out, served{at: at})
		}
		return engines.Arrival{At: at, Request: r}
	}
	arrivals := func(yield func(engines.Arrival) bool) {
		i := 0
		if l.inFlight > 0 {
			for left > 0 {
				a := engines.Arrival{}
				if free > 0 {
					free--
					a = next(i, now)
					i++
				}
				if !yield(a) {
					return
				}
			}
			return
		}
		for at := range l.schedule() {
			if left == 0 || !yield(next(i, at)) {
				return
			}
			i++
		}
	}
	engine.Simulate(arrivals, done)
	return out
}

// figures are a run's numbers, as design tables have them.
type figures struct {
	tpot, ttft, p99ttft, throughput, attainment, goodput float64
}

func (l load) figures(cfg sim.Config) figures {
	model, err := sim.NewModel(cfg)
	if err != nil {
		panic(err)
	}
	return summarize(l.run(model)[l.settle:])
}

func summarize(run []served) figures {
	var f figures
	var ttft, tpot []float64
	good := 0
	end := time.Duration(0)
	for _, s := range run {
		ttft = append(ttft, s.ttft())
		tpot = append(tpot, s.tpot())
		if s.ttft() <= 0.5 && s.tpot() <= 0.04 {
			good++
		}
		end = max(end, s.last)
	}
	offered := (run[len(run)-1].at - run[0].at).Seconds()
	f.throughput = float64(len(run)) / (end - run[0].at).Seconds()
	f.tpot, f.ttft, f.p99ttft = quantile(tpot, .5), quantile(ttft, .5), quantile(ttft, .99)
	f.attainment = float64(good) / float64(len(run))
	f.goodput = float64(good) / offered
	return f
}

func quantile(x []float64, p float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[max(0, int(math.Ceil(p*float64(len(x))))-1)]
}
