package nullserver

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testStream(fd int, tokens int, period int64) *stream {
	st := &stream{out: output{fd}, reply: reply{model: `"m"`, token: `"t"`}, tokens: tokens, batch: 1, period: period, next: period, due: period}
	st.event = newEvent(&st.reply, false)
	return st
}

// A client that did not read for a while does not move the times of the events
// that follow.
func TestAStallMovesNoLaterEvent(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer syscall.Close(pair[0])
	defer syscall.Close(pair[1])
	period := int64(100 * time.Millisecond)
	st := testStream(pair[0], 1<<20, period)
	stepped := func(now int64) {
		t.Helper()
		over, err := st.step(now)
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

// The descriptor of a stream that a sender still has stays open when the server
// ends, so that no other file can get it and what is written there.
func TestEndingKeepsTheSendersDescriptors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	c, err := l.Accept()
	require.NoError(t, err)
	conn := c.(*net.TCPConn)
	defer conn.Close()
	out, err := newOutput(conn)
	require.NoError(t, err)
	st := testStream(out.fd, 10, 1)
	s, err := New(Options{Events: 10})
	require.NoError(t, err)
	s.conns[conn] = true

	_, err = st.step(1)
	require.NoError(t, err)
	s.shut()
	_, err = st.step(1)
	assert.Equal(t, syscall.EPIPE, err, "and not EBADF: it is shut and not closed")
}
