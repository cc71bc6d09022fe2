package benchtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// The abilities, each as a function of how often it was asked, from 0.
type (
	flusher struct {
		flush func(n int) (engines.Flush, error)
		n     int
		at    []time.Time
	}
	loader struct {
		load func(n int) (engines.Load, error)
		n    int
	}
	scraper struct {
		scrape func(n int) (engines.Counters, error)
		n      int
	}
	compiler  struct{ compiles []int }
	describer struct{ identity engines.Identity }
	restarter struct{ restarts int }
)

func (a *flusher) Flush(context.Context) (engines.Flush, error) {
	a.n++
	a.at = append(a.at, time.Now())
	return a.flush(a.n - 1)
}

func (a *loader) Load(context.Context) (engines.Load, error) { a.n++; return a.load(a.n - 1) }

func (a *scraper) Scrape(context.Context) (engines.Counters, error) {
	a.n++
	return a.scrape(a.n - 1)
}

func (a *compiler) CompileEvents(context.Context) (engines.Count, error) {
	n := a.compiles[0]
	if len(a.compiles) > 1 {
		a.compiles = a.compiles[1:]
	}
	return engines.Known(n), nil
}

func (a *describer) Describe(context.Context) (engines.Identity, error) { return a.identity, nil }
func (a *restarter) Restart(context.Context) error                      { a.restarts++; return nil }

func quick() *script { return &script{first: 10 * time.Millisecond, gap: time.Millisecond} }

// usual is a point at which nothing is wrong with a quick script.
func usual() Point {
	return Point{Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100, Runs: 1}
}

func TestAWholeRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*flusher
			*describer
		}{quick(), &flusher{flush: func(int) (engines.Flush, error) {
			return engines.Flush{Outcome: engines.Flushed, Detail: "POST /flush: success"}, nil
		}}, &describer{engines.Identity{Engine: "script", Model: "model", Hardware: "none"}}}
		p := usual()
		p.Runs = 2
		runs, err := Run(t.Context(), engine, p, Options{Test: "TestAWholeRun"})
		require.NoError(t, err)
		require.Len(t, runs.Records, 2)
		for i, r := range runs.Records {
			assert.Empty(t, r.Problems)
			assert.Empty(t, r.Warnings)
			assert.Equal(t, i, r.Run)
			assert.Equal(t, pairSeed(p.Hash(), 0, i), r.Seed)
			assert.Equal(t, 50, r.WarmupRequests)
			assert.Equal(t, lead+5*time.Second, r.From)
			assert.Equal(t, lead+15*time.Second, r.To)
			assert.Equal(t, "flushed", r.Flush)
			assert.Equal(t, "requests", r.CacheProof)
			assert.Equal(t, []metric.Pair{{Key: "engine", Value: "script"}, {Key: "model", Value: "model"}, {Key: "hardware", Value: "none"}}, r.Key)
			assert.True(t, r.Virtual)
			assert.Zero(t, r.GapCV2)
		}
		assert.Equal(t, 2, engine.flusher.n)
		noContentTwice(t, engine.seen)
	})
}

// noContentTwice: whatever a cache holds of one prompt, no other is served by
// it.
func noContentTwice(t *testing.T, seen []engines.Request) {
	t.Helper()
	prompts, ids := map[string]bool{}, map[string]bool{}
	for _, r := range seen {
		prompt := fmt.Sprint(r.Tokens)
		assert.False(t, prompts[prompt], "%s sends a prompt for the second time", r.ID)
		assert.False(t, ids[r.ID], "%s is an id for the second time", r.ID)
		prompts[prompt], ids[r.ID] = true, true
	}
}

// The same point measured again on the same start does the same work with
// other content; and a bubble is exactly reproducible.
func TestRunsAreReplayedWithOtherContent(t *testing.T) {
	measure := func(t *testing.T) (engine *script, records []*metric.Record) {
		inBubble(t, func(t *testing.T) {
			engine = quick()
			for range 2 {
				p := usual()
				p.Arrivals = arrival.Poisson{Rate: 10}
				records = append(records, one(t, engine, p))
			}
		})
		return engine, records
	}
	engine, records := measure(t)
	noContentTwice(t, engine.seen)
	first, second := records[0], records[1]
	require.Len(t, second.Requests, len(first.Requests))
	for i := range first.Requests {
		require.Equal(t, first.Requests[i].Scheduled, second.Requests[i].Scheduled)
	}
	again, same := measure(t)
	assert.Equal(t, records, same)
	for i := range engine.seen {
		engine.seen[i].Stamp, again.seen[i].Stamp = nil, nil
	}
	assert.ElementsMatch(t, engine.seen, again.seen)
}

// A health route says yes at once; generating answers "loading" for 3 s, and
// then takes 2 s. Nothing is measured before that.
func TestReadyIsOneGeneration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		started := time.Now()
		var answered time.Duration
		engine := quick()
		engine.fails = func(n int, r *engines.Request) error {
			if time.Since(started) < 3*time.Second {
				return &engines.Error{Class: engines.Refused, Status: 503, Message: "loading"}
			}
			if answered == 0 {
				time.Sleep(2 * time.Second)
				answered = time.Since(started)
			}
			return nil
		}
		var log []string
		runs, err := Run(t.Context(), engine, usual(), Options{Log: func(format string, args ...any) {
			log = append(log, fmt.Sprintf(format, args...))
		}})
		require.NoError(t, err)
		assert.Empty(t, runs.Records[0].Problems)
		assert.GreaterOrEqual(t, answered, 5*time.Second)
		for _, r := range engine.seen {
			if !strings.Contains(r.ID, "ready") {
				continue
			}
			assert.Equal(t, readyOutput, r.MaxTokens)
			assert.True(t, r.Stamp() >= answered, "asked before the engine was ready")
			break
		}
		assert.Equal(t, []string{"benchtest: waiting for the engine: loading"}, log)
	})
}

func TestAnEngineThatIsNotReady(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a key is missing", &engines.Error{Class: engines.Unauthorized, Status: 401, Message: "POST /v1/completions: 401: no key"},
			"benchtest: the engine is not ready: one small generation: POST /v1/completions: 401: no key"},
		{"another kind of error", errors.New("odd"),
			"benchtest: the engine is not ready: one small generation: odd"},
		{"loading for ever", &engines.Error{Class: engines.Unreachable, Message: "connection refused"},
			"benchtest: the engine was not ready after 5m0s and 147 tries (the limit is 5m0s): connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := quick()
				engine.fails = func(int, *engines.Request) error { return c.err }
				runs, err := Run(t.Context(), engine, usual(), Options{})
				assert.EqualError(t, err, c.want)
				assert.Empty(t, runs.Records)
			})
		})
	}
}

func TestTheModelThatAnswersIsTheOneMeant(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*describer
		}{quick(), &describer{engines.Identity{Model: "llama"}}}
		_, err := Run(t.Context(), engine, usual(), Options{})
		assert.EqualError(t, err, `benchtest: model "model" answered, and the engine says that it serves "llama": is this the server you mean?`)
	})
	inBubble(t, func(t *testing.T) {
		engine := quick()
		engine.reply = func(n int, r *engines.Reply) {
			if n == 120 {
				r.Model = "other"
			}
		}
		r := one(t, engine, usual())
		require.Equal(t, []string{kindWrongModel}, kinds(r))
		assert.Equal(t, "1 of 100 requests were answered by another model: attach to a server that serves only the one", r.Problems[0].Text)
	})
}

func TestFlush(t *testing.T) {
	refused := engines.Flush{Outcome: engines.FlushRefused, Detail: "400: pending requests", Remedy: "stop other load"}
	for _, c := range []struct {
		name     string
		flush    func(n int) (engines.Flush, error)
		asked    int
		waited   time.Duration
		outcome  string
		detail   string
		warnings int
		salted   bool
	}{
		{"refused three times, then done", func(n int) (engines.Flush, error) {
			if n < 3 {
				return refused, nil
			}
			return engines.Flush{Outcome: engines.Flushed, Detail: "200"}, nil
		}, 4, 1750 * time.Millisecond, "flushed", "200", 0, false},
		{"refused for ever", func(int) (engines.Flush, error) { return refused, nil },
			17, time.Minute, "refused", "for 1m0s: 400: pending requests; stop other load", 1, true},
		{"no route", func(int) (engines.Flush, error) {
			return engines.Flush{Outcome: engines.FlushUnsupported, Detail: "404", Remedy: "set VLLM_SERVER_DEV_MODE=1"}, nil
		}, 1, 0, "unsupported", "404; set VLLM_SERVER_DEV_MODE=1", 1, true},
		{"accepted in silence", func(int) (engines.Flush, error) {
			return engines.Flush{Outcome: engines.FlushUnverified, Detail: "200, empty body"}, nil
		}, 1, 0, "unverified", "200, empty body", 1, true},
		{"not to be asked", func(int) (engines.Flush, error) { return engines.Flush{}, errors.New("connection reset") },
			1, 0, "unverified", "the server could not be asked: connection reset", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := struct {
					*script
					*flusher
				}{quick(), &flusher{flush: c.flush}}
				r := one(t, engine, usual())
				assert.Equal(t, c.asked, engine.n)
				assert.Equal(t, c.waited, engine.at[len(engine.at)-1].Sub(engine.at[0]))
				assert.Equal(t, c.outcome, r.Flush)
				assert.Equal(t, c.detail, r.FlushDetail)
				assert.Len(t, r.Warnings, c.warnings)
				assert.Empty(t, r.Problems, "cached tokens prove that the cache was cold")
				salt := engine.seen[len(engine.seen)-1].CacheSalt
				assert.Equal(t, c.salted, salt != "")
				assert.Empty(t, engine.seen[0].CacheSalt)
			})
		})
	}
}

func TestAWarmCacheIsLeftAlone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*flusher
		}{quick(), &flusher{}}
		engine.reply = func(_ int, r *engines.Reply) { r.CachedTokens = r.PromptTokens }
		p := usual()
		p.Cache = Warm
		r := one(t, engine, p)
		assert.Zero(t, engine.n)
		assert.Empty(t, r.Problems)
		assert.Empty(t, r.Flush)
	})
}

func TestQuiesce(t *testing.T) {
	load := func(running, waiting int) engines.Load {
		return engines.Load{Running: engines.Known(running), Waiting: engines.Known(waiting)}
	}
	for _, c := range []struct {
		name     string
		load     func(n int) (engines.Load, error)
		problems []string
		warnings int
	}{
		{"idle after a while", func(n int) (engines.Load, error) { return load(max(0, 3-n), 0), nil }, []string{}, 0},
		{"busy for ever", func(int) (engines.Load, error) { return load(2, 5), nil }, []string{kindNotIdle}, 0},
		{"running unknown", func(int) (engines.Load, error) { return engines.Load{Waiting: engines.Known(0)}, nil }, []string{}, 1},
		{"cannot be read", func(int) (engines.Load, error) { return engines.Load{}, errors.New("404") }, []string{}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := struct {
					*script
					*loader
				}{quick(), &loader{load: c.load}}
				r := one(t, engine, usual())
				assert.Equal(t, c.problems, kinds(r))
				assert.Len(t, r.Warnings, c.warnings)
			})
		})
	}
}

func TestWhatHappensInTheWindow(t *testing.T) {
	t.Run("a compilation", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engine := struct {
				*script
				*compiler
			}{quick(), &compiler{[]int{7, 9, 12}}} // at the start and at the window's edges
			r := one(t, engine, usual())
			require.Equal(t, []string{kindCompiled}, kinds(r))
			assert.Equal(t, "3 compile events fell into the window: raise Point.Warmup from 50, so that every shape is compiled before", r.Problems[0].Text)
		})
	})
	t.Run("a restart", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engine := struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				return engines.Counters{Instance: []string{"a", "a", "b"}[n]}, nil
			}}}
			r := one(t, engine, usual())
			assert.Equal(t, []string{kindRestarted}, kinds(r))
		})
	})
	t.Run("counters", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			engine := struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				return engines.Counters{PromptTokens: engines.Known(1600 * n), CacheQueries: engines.Known(n), Preemptions: engines.Count{N: n, Known: n < 2}}, nil
			}}}
			r := one(t, engine, usual())
			assert.Empty(t, r.Problems)
			assert.Equal(t, map[string]float64{"prompt_tokens": 1600, "cache_queries": 1}, r.Counters, "what one edge does not know is unknown")
		})
	})
}

func TestAPanicLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		engine func() engines.Engine
		point  func(*Point)
		want   string
	}{
		{"in Generate", func() engines.Engine {
			e := quick()
			e.sends = func(n int) {
				if n == 400 {
					panic("at the disco")
				}
			}
			return e
		}, func(*Point) {}, "run 2 of 3: benchtest: the engine panicked in Generate"},
		{"in Flush", func() engines.Engine {
			return struct {
				*script
				*flusher
			}{quick(), &flusher{flush: func(n int) (engines.Flush, error) {
				if n == 1 {
					panic("at the disco")
				}
				return engines.Flush{Outcome: engines.Flushed}, nil
			}}}
		}, func(*Point) {}, "benchtest: panic: at the disco"},
		{"in the workload", func() engines.Engine { return quick() }, func(p *Point) {
			n := 0
			p.Workload = workload(func(i int, shape, content uint64) engines.Request {
				if n++; n > 500 {
					panic("at the disco")
				}
				return prompts{16, 4}.Request(i, shape, content)
			})
		}, "benchtest: Point.Workload: Request("},
		{"in Scrape", func() engines.Engine {
			return struct {
				*script
				*scraper
			}{quick(), &scraper{scrape: func(n int) (engines.Counters, error) {
				if n == 3 {
					panic("at the disco")
				}
				return engines.Counters{}, nil
			}}}
		}, func(*Point) {}, "run 2 of 3: benchtest: panic in the engine's counters: at the disco"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := usual()
				p.Runs = 3
				c.point(&p)
				runs, err := Run(t.Context(), c.engine(), p, Options{})
				require.ErrorContains(t, err, c.want)
				assert.ErrorContains(t, err, "at the disco")
				assert.Empty(t, runs.Records[0].Problems)
				assert.Len(t, window(runs.Records[0]), 100)
			})
		})
	}
}

// workload is a function as a workload.
type workload func(i int, shape, content uint64) engines.Request

func (w workload) Request(i int, shape, content uint64) engines.Request { return w(i, shape, content) }

func TestStarts(t *testing.T) {
	type restartable struct {
		*script
		*restarter
	}
	starts := func(r *Runs) (out []int) {
		for _, r := range r.Records {
			out = append(out, r.Start)
		}
		return out
	}
	t.Run("as the point says", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Runs, p.Starts = 5, 2
			runs, err := Run(t.Context(), restartable{quick(), &restarter{}}, p, Options{})
			require.NoError(t, err)
			assert.Equal(t, []int{0, 0, 0, 1, 1}, starts(runs))
			assert.NotEqual(t, runs.Records[2].StartID, runs.Records[3].StartID)
			assert.Equal(t, runs.Records[3].StartID, runs.Records[4].StartID)
		})
	})
	t.Run("extended over more", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Runs = 3
			engine := restartable{quick(), &restarter{}}
			runs, err := Run(t.Context(), engine, p, Options{})
			require.NoError(t, err)
			require.True(t, runs.Extendable())
			require.NoError(t, runs.ExtendOver(t.Context(), 12, 2))
			assert.Equal(t, []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, starts(runs))
			assert.Equal(t, 1, engine.restarts)
			require.NoError(t, runs.Extend(t.Context(), 13))
			assert.Equal(t, 1, runs.Records[12].Start)
		})
	})
	t.Run("an engine that cannot be restarted", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Starts = 1
			runs, err := Run(t.Context(), quick(), p, Options{})
			require.NoError(t, err)
			require.NoError(t, runs.ExtendOver(t.Context(), 4, 2))
			assert.Equal(t, []int{0, 0, 0, 0}, starts(runs))
			p.Runs, p.Starts = 2, 2
			_, err = Run(t.Context(), quick(), p, Options{})
			assert.EqualError(t, err, "benchtest: Point.Starts is 2, and this engine (*benchtest.script) cannot be restarted: use 1, or start the engine here instead of attaching")
		})
	})
}

func TestPhasesThatAreTooShort(t *testing.T) {
	slow := func() *script { return &script{first: 3 * time.Second} }
	t.Run("three mean durations", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Workload, p.Requests = prompts{16, 1}, 20
			r := one(t, slow(), p) // 50 arrivals at 10/s are 5 s
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Settle of 50 requests is too short: it took 5s, and three mean request durations are 9s: set Point.Settle to 90 or more", r.Problems[0].Text)
			p.Settle = 90
			assert.Empty(t, one(t, slow(), p).Problems, "the value named is enough")
		})
	})
	t.Run("a warmup with no settle after it", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Workload, p.Requests, p.Settle = prompts{16, 1}, 20, -1
			r := one(t, slow(), p)
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Warmup of 50 requests is too short: it took 5s, and three mean request durations are 9s: set Point.Warmup to 90 or more", r.Problems[0].Text)
			p.Warmup = 90
			r = one(t, slow(), p)
			assert.Empty(t, r.Problems)
			assert.Equal(t, []string{"no settle: the window begins with an empty queue and measures how it fills"}, r.Warnings[len(r.Warnings)-1:])
		})
	})
	t.Run("relaxation", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Requests, p.Capacity = 1000, 11
			r := one(t, quick(), p)
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Settle of 100 requests is too short: at 91 % of Point.Capacity a queue takes 300 arrivals to settle: set Point.Settle to 300 or more", r.Problems[0].Text)
			p.Settle = 300
			assert.Empty(t, one(t, quick(), p).Problems)
		})
	})
	t.Run("fewer than three turns of a closed loop", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Arrivals, p.Closed.InFlight, p.Settle = nil, 20, 40
			r := one(t, quick(), p)
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Settle of 40 requests is too short: three turns of 20 in flight: set Point.Settle to 60 or more", r.Problems[0].Text)
			p.Settle = 60
			assert.Empty(t, one(t, quick(), p).Problems)
		})
	})
}
