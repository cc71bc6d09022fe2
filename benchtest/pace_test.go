package benchtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Arrivals that are due at once, soon and later, in that order.
var dueTimes = []time.Duration{0, 1, time.Millisecond, time.Millisecond + 1, coarse, coarse + 1, 20 * time.Millisecond}

func TestOnARealClockNobodyIsEarly(t *testing.T) {
	w := newWaiter(time.Now(), false)
	defer w.close()
	for _, at := range dueTimes {
		w.until(t.Context(), at, nil)
		assert.GreaterOrEqual(t, w.now(), at)
	}
}

// A driver that is not told that it is in a bubble finds out: the kernel's
// alarm knows nothing of its clock.
func TestInABubblePackageTimePaces(t *testing.T) {
	for _, told := range []bool{true, false} {
		inBubble(t, func(t *testing.T) {
			w := newWaiter(time.Now(), told)
			defer w.close()
			require.Nil(t, w.alarm)
			for _, at := range dueTimes {
				w.until(t.Context(), at, nil)
				assert.Equal(t, at, w.now())
			}
		})
	}
}

func TestAWaitEndsWithItsReason(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWaiter(time.Now(), true)
		defer w.close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w.until(ctx, time.Hour, nil)
		assert.Equal(t, time.Second, w.now(), "the context ended")
		done := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(done) })
		w.until(t.Context(), time.Hour, done)
		assert.Equal(t, 2*time.Second, w.now(), "what was waited for with it was done")
		w.until(t.Context(), time.Second, nil)
		assert.Equal(t, 2*time.Second, w.now(), "the time had passed")
	})
}
