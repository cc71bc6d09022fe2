package benchtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holder is an engine that another process measures for a while.
type holder struct {
	busy time.Duration
	fail error

	who      string
	held     int
	released int
}

func (h *holder) Hold(ctx context.Context, who string, log func(string, ...any)) (func() error, error) {
	h.who = who
	if h.fail != nil {
		return nil, h.fail
	}
	if h.busy > 0 {
		log("waiting for http://gpu-7:8000, which another process holds")
		if !sleep(ctx, h.busy) {
			return nil, fmt.Errorf("waited %v for http://gpu-7:8000: %w", h.busy, context.Cause(ctx))
		}
	}
	h.held++
	return func() error { h.released++; return nil }, nil
}

// shared is an engine on a real clock, of a holder.
type shared struct {
	real
	*holder
}

func TestAnEngineIsHeldWhileItIsMeasured(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := &holder{busy: time.Minute}
		engine := shared{real{quick()}, h}
		var logs []string
		began := time.Now()
		runs, err := Run(t.Context(), engine, usual(), Options{Test: "TestB", Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }})
		require.NoError(t, err)
		assert.Len(t, runs.Records, 1)
		assert.Equal(t, "benchtest: waiting for http://gpu-7:8000, which another process holds", logs[0])
		assert.GreaterOrEqual(t, runs.Records[0].Time.Sub(began), time.Minute, "measured after it was free")
		assert.Equal(t, "TestB", h.who)
		assert.Equal(t, 1, h.held)
		assert.Equal(t, 1, h.released)
	})
}

func TestAnEngineThatCannotBeHeldIsNotMeasured(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := &holder{fail: errors.New("must not wait for cpu")}
		engine := shared{real{quick()}, h}
		runs, err := Run(t.Context(), engine, usual(), Options{})
		assert.EqualError(t, err, "benchtest: hold the engine: must not wait for cpu")
		assert.Empty(t, runs.Records)
		h.fail = nil
		_, err = Run(t.Context(), engine, usual(), Options{}) // its lease was given back
		assert.NoError(t, err)
	})
}

func TestHoldingEndsWithTheBudget(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := &holder{busy: time.Hour}
		engine := shared{real{quick()}, h}
		o := Options{}
		o.Config.Budget = 10 * time.Minute
		began := time.Now()
		_, err := Run(t.Context(), engine, usual(), o)
		assert.EqualError(t, err, "benchtest: hold the engine: waited 1h0m0s for http://gpu-7:8000: the budget is over in 30s: raise OPENLOOP_BUDGET")
		assert.Equal(t, 10*time.Minute-teardown, time.Since(began))

		h.busy = 9 * time.Minute // then what is left is too little
		_, err = Run(t.Context(), engine, usual(), o)
		require.Error(t, err)
		assert.Regexp(t, `^benchtest: needs 1m\d+s at most for 1 run \(a drain of 1m0s each included\), and the budget is over in 1m0s: raise OPENLOOP_BUDGET`, err.Error())
		assert.Equal(t, 1, h.released)
	})
}
