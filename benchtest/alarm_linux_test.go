package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheAlarmIsOnTheClockOfTheLoad(t *testing.T) {
	w := newWaiter(time.Now(), false)
	defer w.close()
	require.NotNil(t, w.alarm)
	before, ok := kernelNow()
	require.True(t, ok)
	now := w.now()
	after, _ := kernelNow()
	// Half a round of two readings is the error of the tie.
	const error = int64(time.Millisecond)
	assert.Greater(t, w.alarm.zero+int64(now), before-error)
	assert.Less(t, w.alarm.zero+int64(now), after+error)
}

// With the alarm out of order the wait is coarser and no shorter.
func TestAnAlarmThatBreaksIsDoneWithout(t *testing.T) {
	w := newWaiter(time.Now(), false)
	defer w.close()
	require.NotNil(t, w.alarm)
	w.alarm.close()
	w.until(t.Context(), 2*time.Millisecond, nil)
	assert.GreaterOrEqual(t, w.now(), 2*time.Millisecond)
	assert.Nil(t, w.alarm)
	w.until(t.Context(), 4*time.Millisecond, nil)
	assert.GreaterOrEqual(t, w.now(), 4*time.Millisecond)
}
