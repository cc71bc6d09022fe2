package openai

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A pipe that is closed says the same of both of its ends. The other side is
// blamed for its own only.
func TestWhoClosedAPipe(t *testing.T) {
	for _, tt := range []struct {
		what  string
		close func(ours, theirs net.Conn)
		write bool
		blame bool
	}{
		{"the other side, before a write", func(_, theirs net.Conn) { theirs.Close() }, true, true},
		{"the other side, before a read", func(_, theirs net.Conn) { theirs.Close() }, false, true},
		{"this side, before a write", func(ours, _ net.Conn) { ours.Close() }, true, false},
		{"this side, before a read", func(ours, _ net.Conn) { ours.Close() }, false, false},
	} {
		client, server := net.Pipe()
		c := &conn{Conn: client, stay: stay{habit: &habit{seen: make(chan struct{})}}}
		tt.close(c, server)
		do := c.Read
		if tt.write {
			do = c.Write
		}
		_, err := do(make([]byte, 1))
		assert.Equal(t, tt.blame, atEnd(err), "%s: %v", tt.what, err)
		assert.Equal(t, tt.blame, brokenOff(err), "%s: %v", tt.what, err)
		assert.False(t, tt.blame && err == io.ErrClosedPipe, tt.what)
		client.Close()
		server.Close()
	}
}
