//go:build linux

package nullserver

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that did not read for a while does not move the times of the events
// that follow.
func TestAStallMovesNoLaterEvent(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer syscall.Close(pair[0])
	defer syscall.Close(pair[1])
	o := Options{Events: 1 << 20, Rate: 10}
	period := int64(100 * time.Millisecond)
	st := &stream{fd: pair[0], event: newEvent(1), next: period, due: period}
	stepped := func(now int64) {
		t.Helper()
		over, err := st.step(&o, nil, now)
		require.NoError(t, err)
		require.False(t, over)
	}
	for len(st.left) == 0 {
		require.Equal(t, int64(st.sent+1)*period, st.due)
		stepped(st.due)
	}
	stalled, begun := st.sent, int64(st.sent)*period
	assert.Equal(t, begun+retry, st.due, "it is tried again soon")
	drain(t, pair[1])

	stepped(begun + retry)
	assert.Equal(t, stalled, st.sent, "the next event is not due")
	assert.Equal(t, begun+period, st.due, "and is when it was to be")

	late := begun + 5*period/2
	stepped(late)
	assert.Equal(t, begun+2*period, st.due, "one that was missed follows at once")
	stepped(late)
	assert.Equal(t, stalled+2, st.sent)
	assert.Equal(t, begun+3*period, st.due)
}

func drain(t *testing.T, fd int) {
	t.Helper()
	for buf := make([]byte, 64<<10); ; {
		if _, err := syscall.Read(fd, buf); err == syscall.EAGAIN {
			return
		} else {
			require.NoError(t, err)
		}
	}
}
