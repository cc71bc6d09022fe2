//go:build linux && (amd64 || arm64)

package openai

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// Many streams at once over several loops: nothing is lost, nothing mixed up.
func TestManyStreamsAtOnce(t *testing.T) {
	const streams, events = 300, 40
	e := directClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range events {
			io.WriteString(w, running(r.Header.Get("X-Request-Id"), i+1))
			if i%3 == 0 {
				http.NewResponseController(w).Flush()
			}
		}
		io.WriteString(w, usage(events)+ended)
	}), 4)
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			tokens, last := 0, time.Duration(0)
			start := time.Now()
			reply, err := e.Generate(t.Context(), &engines.Request{
				ID: fmt.Sprint(i), Text: "x", MaxTokens: events, Stamp: func() time.Duration { return time.Since(start) },
			}, func(c engines.Chunk) {
				assert.GreaterOrEqual(t, c.At, last)
				last = c.At
				tokens += c.Tokens.N
			})
			assert.NoError(t, err)
			assert.Equal(t, events, tokens)
			assert.Equal(t, engines.Known(events), reply.OutputTokens)
			assert.LessOrEqual(t, last, reply.Closed)
			assert.LessOrEqual(t, reply.Sent, reply.FirstEvent)
		})
	}
	all.Wait()
}

// A server that says more than it was asked for is not asked again on that
// connection.
func TestBytesAfterTheResponse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var accepted atomic.Int32
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			accepted.Add(1)
			go func() {
				defer c.Close()
				for buf := make([]byte, 4<<10); ; {
					if _, err := c.Read(buf); err != nil {
						return
					}
					body := completion("a") + ended
					fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sHTTP/1.1 408 Request Timeout\r\n\r\n", len(body), body)
				}
			}()
		}
	}()
	e, err := New(Config{URL: "http://" + l.Addr().String()})
	require.NoError(t, err)
	e.direct = directOver(e, 1)
	defer e.Close()
	for range 2 {
		require.NoError(t, generate(t, e).err)
	}
	assert.Equal(t, int32(2), accepted.Load())
}
