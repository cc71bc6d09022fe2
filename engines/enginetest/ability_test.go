package enginetest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
)

func TestEveryBreachOfAnAbilityIsFound(t *testing.T) {
	type reply = engines.Reply
	find(t, []breach{
		{"no description", func(f *fake) { f.identity = func(_ *engines.Identity, err *error) { *err = errBroken } }, "describe: broken", "describe"},
		{"an engine without a kind", func(f *fake) { f.identity = func(id *engines.Identity, _ *error) { id.Engine = "" } },
			`describe: engine is "" and model "fake-1": neither may be empty`, "describe"},
		{"another model", func(f *fake) { f.identity = func(id *engines.Identity, _ *error) { id.Model = "fake-2" } },
			`describe: the model is "fake-2", but replies come from "fake-1"`, "describe"},
		{"no load", func(f *fake) { f.loaded = func(_ *engines.Load, err *error) { *err = errBroken } }, "load: broken", "load"},
		{"never idle", func(f *fake) { f.loaded = func(l *engines.Load, _ *error) { l.Waiting.N = 1 } },
			"load: 0 running and 1 waiting 10s after the last request ended, want none", "load"},
		{"a load below nothing", func(f *fake) {
			f.loaded = func(l *engines.Load, _ *error) { *l = engines.Load{Running: engines.Count{N: 3}} }
		},
			"counts: load: Running is {N:3 Known:false}: a known count must not be negative, an unknown one must be zero", "counts"},
		{"no counters", func(f *fake) { f.scraped = func(_ int, _ *engines.Counters, err *error) { *err = errBroken } }, "scrape: broken", "scrape"},
		{"counters that fail later", func(f *fake) {
			f.scraped = func(n int, _ *engines.Counters, err *error) {
				if n > 1 {
					*err = errBroken
				}
			}
		}, "scrape: broken", "scrape"},
		{"a counter that falls", func(f *fake) {
			f.scraped = func(n int, c *engines.Counters, _ *error) { c.Preemptions = engines.Known(9 - min(n, 9)) }
		},
			"scrape: Preemptions fell from 8 to 7", "scrape"},
		{"a counter that is lost", func(f *fake) {
			f.scraped = func(n int, c *engines.Counters, _ *error) { c.CacheHits.Known = n == 1; c.CacheHits.N *= 2 - min(n, 2) }
		},
			"scrape: CacheHits was known and is not any more", "scrape"},
		{"a counter that misses requests", func(f *fake) { f.scraped = func(_ int, c *engines.Counters, _ *error) { c.OutputTokens.N = 7 } },
			"scrape: OutputTokens grew by 0 for a request of 16", "scrape"},
		{"more hits than queries", func(f *fake) {
			f.scraped = func(_ int, c *engines.Counters, _ *error) { c.CacheHits.N = c.CacheQueries.N + 1 }
		},
			"scrape: CacheHits is 1469 of 1468 CacheQueries", "scrape"},
		{"another instance each time", func(f *fake) { f.scraped = func(n int, c *engines.Counters, _ *error) { c.Instance = fmt.Sprint(n) } },
			`scrape: Instance changed from "1" to "2" without a restart`, "scrape"},
		{"no flush", func(f *fake) { f.flushed = func(_ *fake, _ *engines.Flush, err *error) { *err = errBroken } }, "flush: broken", "flush"},
		{"another word for a flush", func(f *fake) { f.flushed = func(_ *fake, out *engines.Flush, _ *error) { out.Outcome = "done" } },
			`flush: the outcome "done" is none of the words`, "flush"},
		{"a flush without detail", func(f *fake) { f.flushed = func(_ *fake, out *engines.Flush, _ *error) { out.Detail = "" } },
			`flush: "flushed" without a detail of what was asked and what came back`, "flush"},
		{"a refusal without a remedy", func(f *fake) {
			f.flushed = func(_ *fake, out *engines.Flush, _ *error) { out.Outcome = engines.FlushRefused }
		},
			`flush: "refused" without a remedy`, "flush"},
		{"a salt refused, of which no flush says so", func(f *fake) {
			f.flushed = func(_ *fake, out *engines.Flush, _ *error) {
				out.Outcome, out.Remedy = engines.FlushUnsupported, "start it otherwise"
			}
			f.end = unsalted
		}, "cache salt: enginetest-000019 failed: status: status 400", "cache salt"},
		{"a flush that lies", func(f *fake) {
			f.flushed = func(f *fake, _ *engines.Flush, _ *error) {
				for id := range int32(30_000) {
					f.cache[id] = true
				}
			}
		}, `flush: "flushed", but 1024 tokens of the same prompt came from the cache afterwards`, "flush"},
		{"no log", func(f *fake) { f.logged = func(_ int, _ *engines.Count, err *error) { *err = errBroken } }, "compile events: broken", "compile events"},
		{"compile events that fall", func(f *fake) { f.logged = func(n int, c *engines.Count, _ *error) { c.N -= n } },
			"compile events: fell from {N:2 Known:true} to {N:1 Known:true}", "compile events"},
		{"no devices", func(f *fake) {
			f.sampled = func(_ []engines.Device, err *error) []engines.Device { *err = errBroken; return nil }
		}, "devices: broken", "devices"},
		{"a device without a name", func(f *fake) {
			f.sampled = func(d []engines.Device, _ *error) []engines.Device { d[1].ID = ""; return d }
		}, `devices: device 2 of 2 is called "": each must have a name of its own`, "devices"},
		{"two devices of one name", func(f *fake) {
			f.sampled = func(d []engines.Device, _ *error) []engines.Device { d[1].ID = "0"; return d }
		}, `devices: device 2 of 2 is called "0": each must have a name of its own`, "devices"},
		{"a temperature that is not known", func(f *fake) {
			f.sampled = func(d []engines.Device, _ *error) []engines.Device { d[0].Celsius.N = 60; return d }
		}, "counts: devices: Celsius is {N:60 Known:false}: a known count must not be negative, an unknown one must be zero", "counts"},
		{"reasons that are not known", func(f *fake) {
			f.sampled = func(d []engines.Device, _ *error) []engines.Device {
				d[1].Throttles.Reasons = []engines.Throttle{engines.ThrottleHeat}
				return d
			}
		}, "devices: 1 is throttled by [heat], which is not known", "devices"},
		{"it cannot be held", func(f *fake) {
			f.held = func(int, context.Context) (func() error, error) { return nil, errBroken }
		}, "hold: broken", "hold"},
		{"it cannot be held twice by one", func(f *fake) {
			f.held = func(n int, _ context.Context) (func() error, error) {
				if n == 2 {
					return nil, errBroken
				}
				return func() error { return nil }, nil
			}
		}, "hold: who holds it cannot hold it again: broken", "hold"},
		{"it cannot be given back", func(f *fake) {
			f.held = func(n int, _ context.Context) (func() error, error) {
				return func() error {
					if n == 5 {
						return errBroken
					}
					return nil
				}, nil
			}
		}, "hold: it cannot be given back: broken", "hold"},
		{"a wait without an end", func(f *fake) {
			f.held = func(n int, _ context.Context) (func() error, error) {
				if n == 6 {
					time.Sleep(time.Minute)
				}
				return func() error { return nil }, nil
			}
		}, "hold: who waits for it had not returned 10s after its context ended", "hold"},
		{"a restart that fails", func(f *fake) { f.restart = func(*fake) error { return errBroken } }, "restart: broken", "restart"},
		{"a restart that is none", func(f *fake) { f.restart = func(*fake) error { return nil } }, `restart: Instance is "a" as before`, "restart"},
		{"a dead engine after a restart", func(f *fake) {
			f.restart = func(f *fake) error {
				f.instance++
				f.end = func(_ *engines.Request, _ *reply, err *error) { *err = &engines.Error{Class: engines.Unreachable} }
				return nil
			}
		}, "restart: enginetest-000020 failed: unreachable", "restart"},
		{"an arrival lost", func(f *fake) {
			f.outcome = func(o engines.Outcome, done func(engines.Outcome)) {
				if o.Request.MaxTokens != 18 {
					done(o)
				}
			}
		}, "simulate: enginetest-000023 ended 0 times, want once", "simulate"},
		{"an arrival served twice", func(f *fake) { f.outcome = func(o engines.Outcome, done func(engines.Outcome)) { done(o); done(o) } },
			"simulate: enginetest-000021 ended 2 times, want once", "simulate"},
		{"an outcome of nothing", func(f *fake) {
			f.outcome = func(o engines.Outcome, done func(engines.Outcome)) {
				done(o)
				done(engines.Outcome{Request: &engines.Request{}})
			}
		}, "simulate: an outcome of a request that never arrived", "simulate"},
		{"simulated before it was due", func(f *fake) {
			f.outcome = func(o engines.Outcome, done func(engines.Outcome)) { o.Reply.Sent -= time.Millisecond; done(o) }
		}, "stamps: enginetest-000021: Sent at 999ms is before the call at 1s", "stamps"},
		{"a simulated failure", func(f *fake) {
			f.outcome = func(o engines.Outcome, done func(engines.Outcome)) { o.Err = errBroken; done(o) }
		}, "simulate: enginetest-000021 failed: broken", "simulate|failure"},
	})
}
