//go:build linux && (amd64 || arm64)

package openai

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/openloop-go/openloop/engines"
)

// rawClient is a client, through one loop, of a server that is given each
// connection once a request has been read from it. end closes both and looks
// for what they have left behind.
func rawClient(t *testing.T, answer func(c net.Conn)) (e *Engine, end func()) {
	t.Helper()
	other := goleak.IgnoreCurrent()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				io.Copy(io.Discard, r.Body)
				answer(c)
			}()
		}
	}()
	e, err = New(Config{URL: "http://" + l.Addr().String()})
	require.NoError(t, err)
	e.direct = directOver(e, 1)
	return e, func() {
		l.Close()
		e.Close()
		goleak.VerifyNone(t, other)
	}
}

const closeDelimited = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

// The end of a connection can complete an event. An emit that does not return
// then ends its generation as at any other time.
func TestEmitThatDoesNotReturnFromTheEnd(t *testing.T) {
	e, end := rawClient(t, func(c net.Conn) {
		fmt.Fprintf(c, "%s\r\n%s", closeDelimited, bytes.TrimRight([]byte(completion("a")), "\n"))
	})
	defer end()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ask := func(emit func(engines.Chunk)) {
		_, err := e.Generate(ctx, &engines.Request{Text: "x", MaxTokens: 5}, emit)
		assert.NoError(t, err)
	}
	over := make(chan string, 2)
	go func() {
		defer func() { over <- fmt.Sprint("panic: ", recover()) }()
		ask(func(engines.Chunk) { panic("no") })
	}()
	go func() {
		returned := false
		defer func() { over <- fmt.Sprint("returned: ", returned) }()
		ask(func(engines.Chunk) { runtime.Goexit() })
		returned = true
	}()
	var got []string
	for range 2 {
		select {
		case how := <-over:
			got = append(got, how)
		case <-time.After(30 * time.Second):
			require.Fail(t, "a generation hangs", "past its deadline; the other: %v", got)
		}
	}
	assert.ElementsMatch(t, []string{"panic: no", "returned: false"}, got)
}

// A loop that cannot go on says why.
func TestALoopThatCannotWait(t *testing.T) {
	l := &loop{gate: &gate{sockets: -1}}
	l.load.Store(1)
	assert.PanicsWithValue(t, "openai: epoll_pwait: bad file descriptor", l.run)
}

// However a compressed stream ends, nothing of its decompressor is left.
func TestCompressedStreamsThatEndEarly(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, completion("a"))
	z.Flush()
	for what, tt := range map[string]struct {
		answer string
		cancel bool
		panics bool
		class  engines.Class
	}{
		"cut":           {answer: "Content-Length: 100000\r\n\r\n" + packed.String(), class: engines.Reset},
		"canceled":      {answer: "Content-Length: 100000\r\n\r\n" + packed.String(), cancel: true, class: engines.Canceled},
		"badly framed":  {answer: fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\nno number\r\n", packed.Len(), packed.String()), class: engines.Protocol},
		"nothing of it": {answer: "Content-Length: 100000\r\n\r\n", class: engines.Reset},
		"emit panics":   {answer: "Content-Length: 100000\r\n\r\n" + packed.String(), panics: true},
	} {
		t.Run(what, func(t *testing.T) {
			hold := make(chan struct{})
			e, end := rawClient(t, func(c net.Conn) {
				io.WriteString(c, closeDelimited+"Content-Encoding: gzip\r\n"+tt.answer)
				if tt.cancel {
					<-hold
				}
			})
			defer end()
			defer close(hold)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ask := func() error {
				_, err := e.Generate(ctx, &engines.Request{Text: "x", MaxTokens: 5}, func(engines.Chunk) {
					if tt.cancel {
						go cancel()
					}
					if tt.panics {
						panic("no")
					}
				})
				return err
			}
			if tt.panics {
				assert.PanicsWithValue(t, "no", func() { ask() })
				return
			}
			requireClass(t, tt.class, result{err: ask()})
		})
	}
}
