package benchtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
)

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
		{"no route, and salts refused", func(int) (engines.Flush, error) {
			return engines.Flush{Outcome: engines.FlushUnsupported, Detail: "404", Remedy: "restart it", Saltless: true}, nil
		}, 1, 0, "unsupported", "404; restart it", 1, false},
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

// What the time ran out in is told.
func TestATimeThatEndsInAFlush(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		refused := engines.Flush{Outcome: engines.FlushRefused}
		engine := struct {
			*script
			*flusher
		}{quick(), &flusher{flush: func(int) (engines.Flush, error) { return refused, nil }}}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := Run(ctx, engine, usual(), Options{})
		assert.EqualError(t, err, "benchtest: run 1 of 1: in the flush: context deadline exceeded")
	})
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
