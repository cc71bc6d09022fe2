//go:build linux && (amd64 || arm64)

package openai

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhenEventsMayComeTogether(t *testing.T) {
	for _, tt := range []struct {
		what    string
		every   time.Duration // between batches
		events  int           // of each
		stamped bool
		want    bool
	}{
		{"few", time.Millisecond, 10, true, false},
		{"many, one by one", 20 * time.Microsecond, 1, true, true},
		{"many, in bursts", 10 * time.Millisecond, 256, true, true},
		{"just as many as that", time.Millisecond, 20, true, true},
		{"many, and the kernel does not give their times", 20 * time.Microsecond, 1, false, false},
	} {
		l := loop{stamped: tt.stamped}
		var got bool
		for l.now = 0; l.now < time.Second; l.now += tt.every {
			l.n = tt.events
			got = l.busy()
		}
		assert.Equal(t, tt.want, got, tt.what)
		l.n, l.now = 1, l.now+time.Second
		assert.False(t, l.busy(), "%s, and then a pause", tt.what)
	}
}

// The pauses of a gate take their time, and a gate that waits is told of what
// comes then.
func TestTheGate(t *testing.T) {
	g, err := openGate()
	require.NoError(t, err)
	defer g.close()
	start := time.Now()
	for range 3 {
		require.NoError(t, g.pause(time.Millisecond))
	}
	assert.GreaterOrEqual(t, time.Since(start), 3*time.Millisecond)

	var pipe [2]int
	require.NoError(t, syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK))
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	require.NoError(t, g.add(pipe[0]))
	var events [batch]syscall.EpollEvent
	require.Zero(t, g.poll(&events))
	for range 3 {
		woken := make(chan error)
		go func() { woken <- g.wait() }()
		syscall.Write(pipe[1], []byte("x"))
		require.NoError(t, <-woken)
		require.Equal(t, 1, g.poll(&events))
		assert.Equal(t, int32(pipe[0]), events[0].Fd)
		require.Zero(t, g.poll(&events), "edges: it is told once")
	}
}
