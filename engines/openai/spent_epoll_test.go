//go:build linux && (amd64 || arm64)

package openai

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A connection that the server closed while the loop was busy, so that nobody
// here has read so, is not written on.
func TestAConnectionClosedWhileTheLoopIsBusy(t *testing.T) {
	var mu sync.Mutex
	states := map[net.Conn]http.ConnState{}
	arrived, over := make(chan struct{}), make(chan struct{})
	_, e := directServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "hold"):
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, running("a", 1))
			http.NewResponseController(w).Flush()
			<-over
			io.WriteString(w, running("b", 2)+ended)
			return
		case strings.Contains(string(body), "late"):
			close(arrived)
		}
		streaming(w, r)
	}), 1, func(c net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		states[c] = s
	})
	require.NoError(t, generate(t, e).err) // this one waits for the habit
	require.NoError(t, e.Warm(t.Context(), 2))

	held, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		events := 0
		_, err := e.Generate(t.Context(), &engines.Request{Text: "hold", MaxTokens: 2}, func(engines.Chunk) {
			if events++; events == 1 {
				close(held)
				<-release // the loop waits with it
			}
		})
		assert.NoError(t, err)
	})
	<-held
	mu.Lock()
	closed := 0
	for c, s := range states {
		if s != http.StateActive && s != http.StateClosed {
			c.Close()
			closed++
		}
	}
	mu.Unlock()
	require.Positive(t, closed)
	require.Equal(t, 1, e.direct.len(), "one is idle, as far as is known here")
	var got result
	all.Go(func() { got = generate(t, e, func(r *engines.Request) { r.Text = "late" }) })
	<-arrived
	close(release)
	close(over)
	all.Wait()
	require.NoError(t, got.err)
	assert.True(t, got.reply.NewConnection)
	assert.Equal(t, 3, e.Connections())
}
