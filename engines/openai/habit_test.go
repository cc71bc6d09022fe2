package openai

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// streams answers each request of a connection with a stream, up to most of
// them, and closes the connection a while after the last, without a word.
func streams(most int, after time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		buf := make([]byte, 64<<10)
		for range most {
			if _, err := c.Read(buf); err != nil {
				return
			}
			io.WriteString(c, chunked(completion("a"), ended))
		}
		time.Sleep(after)
	}
}

func TestAServerThatClosesAfterEachStream(t *testing.T) {
	for what, after := range map[string]time.Duration{"at once": 0, "soon": 50 * time.Millisecond} {
		t.Run(what, func(t *testing.T) {
			rawMemory(t, streams(1, after), Config{}, func(t *testing.T, e *Engine) {
				for i := range 10 {
					got := generate(t, e)
					require.NoError(t, got.err, "generation %d", i)
					assert.True(t, got.reply.NewConnection)
				}
				assert.Equal(t, 10, e.Connections())
			})
		})
	}
}

func TestAServerThatKeepsConnections(t *testing.T) {
	rawMemory(t, streams(100, 0), Config{}, func(t *testing.T, e *Engine) {
		first := generate(t, e)
		require.NoError(t, first.err)
		assert.Zero(t, first.reply.Closed, "the wait is after the end")
		start := time.Now()
		for range 9 {
			require.NoError(t, generate(t, e).err)
		}
		assert.Equal(t, 1, e.Connections())
		assert.Zero(t, time.Since(start), "only the first generation waits")
	})
	// One that closes for idleness is no reason to dial for each request.
	rawMemory(t, streams(1, 2*time.Second), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.False(t, e.transport.habit.closes.Load())
		require.NoError(t, generate(t, e).err)
		assert.Equal(t, 2, e.Connections())
	})
	rawMemory(t, streams(100, 0), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		e.Close()
		synctest.Wait()
		assert.False(t, e.transport.habit.closes.Load(), "closed from our side")
	})
}

func TestFreshConnections(t *testing.T) {
	rawMemory(t, streams(100, 0), Config{Fresh: true}, func(t *testing.T, e *Engine) {
		for range 5 {
			got := generate(t, e)
			require.NoError(t, got.err)
			assert.True(t, got.reply.NewConnection)
		}
		assert.Equal(t, 5, e.Connections())
	})
}
