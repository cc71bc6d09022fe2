package benchtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAWakerKeepsHowLateItWoke(t *testing.T) {
	w := newWaker(time.Now())
	if w == nil {
		t.Skip("this system has no alarm")
	}
	var seen *wakes
	for seen = w.take(); seen.n == 0; seen = w.take() {
		select {
		case <-w.done:
			t.Fatal("the waker has ended")
		case <-time.After(wakeEvery):
		}
	}
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
