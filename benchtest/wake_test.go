package benchtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// firstWakes waits until the process has been woken.
func firstWakes(t *testing.T, w *waker) *wakes {
	for {
		if seen := w.take(); seen.n > 0 {
			return seen
		}
		select {
		case <-w.done:
			t.Fatal("the waker has ended")
		case <-time.After(wakeEvery):
		}
	}
}

func TestAWakerKeepsHowLateItWoke(t *testing.T) {
	w := newWaker(time.Now())
	require.NotNil(t, w)
	seen := firstWakes(t, w)
	w.stop()
	assert.Positive(t, seen.max)
	assert.LessOrEqual(t, seen.p99, seen.max)
	w.take() // what came before the stop
	assert.Zero(t, w.take().n, "taken once")
}

// What the record says of virtual time must not depend on the real one.
func TestInABubbleNobodyWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaker(time.Now())
		assert.Nil(t, w)
		assert.Nil(t, w.take())
		w.stop()
	})
}

// Where the kernel has no alarm, or one that breaks, package time wakes: once in
// wakeEvery, which is never late in virtual time, where nothing is kept of less
// than a nanosecond.
func TestWithoutAnAlarmPackageTimeWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startWaker(time.Now(), nil)
		time.Sleep(100 * wakeEvery)
		synctest.Wait()
		seen := w.take()
		assert.Greater(t, seen.n, int64(50), "of 100 expected, and never fewer than one in 2 × wakeEvery")
		assert.Equal(t, wakes{n: seen.n, p99: 1, max: 1}, *seen)
		begun := time.Now()
		w.stop()
		assert.Zero(t, time.Since(begun), "it is stopped while it waits")
	})
	broken := newAlarm(time.Now())
	broken.close()
	w := startWaker(time.Now(), broken)
	defer w.stop()
	assert.Positive(t, firstWakes(t, w).max)
}
