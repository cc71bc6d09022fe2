package openai

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSeveralAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called, running, most atomic.Int64
		began := time.Now()
		assert.NoError(t, several(t.Context(), 10, 4, func(context.Context) error {
			called.Add(1)
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return nil
		}))
		assert.Equal(t, []int64{10, 4}, []int64{called.Load(), most.Load()})
		assert.Equal(t, 3*time.Second, time.Since(began), "four, four and two")
	})
}

func TestTheFirstErrorEndsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := errors.New("the third is refused")
		var called atomic.Int64
		err := several(t.Context(), 100, 2, func(ctx context.Context) error {
			if called.Add(1) == 3 {
				return first
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
				return nil
			}
		})
		assert.Equal(t, first, err)
		assert.LessOrEqual(t, called.Load(), int64(4))

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("it is called off")
		cancel(why)
		assert.Equal(t, why, several(ctx, 5, 2, func(context.Context) error { t.Error("called"); return nil }))
		assert.NoError(t, several(t.Context(), 0, 2, nil))
	})
}
