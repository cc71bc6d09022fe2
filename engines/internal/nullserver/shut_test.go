//go:build linux

package nullserver

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The descriptor of a stream that the sender still has stays open when the
// server ends, so that no other file can get it and what is written there.
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
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	st := &stream{event: newEvent(1), next: 1, due: 1}
	require.NoError(t, raw.Control(func(fd uintptr) { st.fd = int(fd) }))
	o := Options{Events: 10}
	s, err := New(o)
	require.NoError(t, err)
	s.conns[conn] = true

	_, err = st.step(&o, s.end, 1)
	require.NoError(t, err)
	s.shut()
	_, err = st.step(&o, s.end, 1)
	assert.Equal(t, syscall.EPIPE, err, "and not EBADF: it is shut and not closed")
}
