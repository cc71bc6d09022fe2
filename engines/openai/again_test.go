package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// unwritable is a connection that fails to write from a time on, after it has
// taken so many bytes of it.
type unwritable struct {
	net.Conn
	fails *atomic.Bool
	takes int
}

func (u unwritable) Write(b []byte) (int, error) {
	if !u.fails.Load() {
		return u.Conn.Write(b)
	}
	n, _ := u.Conn.Write(b[:u.takes])
	return n, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
}

// A request is sent anew where nothing of it was written, which its reply says,
// and nowhere else.
func TestWhatNetHTTPSendsAnew(t *testing.T) {
	for _, tt := range []struct {
		what   string
		takes  int
		header http.Header
		class  engines.Class
	}{
		{"nothing was written", 0, nil, ""},
		{"something was", 9, nil, engines.Stale},
		{"nothing was, and a header vouches for the request", 0, http.Header{"Idempotency-Key": {"1234"}}, engines.Stale},
		{"nothing was, and a header without a value vouches for the request", 0, http.Header{"Idempotency-Key": nil}, engines.Stale},
		{"something was, and a header without a value vouches for the request", 9, http.Header{"X-Idempotency-Key": nil}, engines.Stale},
		{"something was, and a header vouches for the request", 9, http.Header{"X-Idempotency-Key": {"1234"}}, engines.Stale},
	} {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				server := &http.Server{Handler: script{steps: []step{{at: 1e6, send: completion("a") + ended}}}}
				go server.Serve(m)
				defer server.Close()
				var fails atomic.Bool
				e, err := New(Config{URL: "http://engine", Header: tt.header, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
					c, err := m.dial(ctx, network, addr)
					if fails.Load() {
						return c, err // later ones are as they should be
					}
					return unwritable{c, &fails, tt.takes}, err
				}})
				require.NoError(t, err)
				defer e.Close()
				if e.direct != nil {
					t.Skip("it looks before it writes")
				}
				require.NoError(t, generate(t, e).err)
				fails.Store(true)
				got := generate(t, e)
				require.Equal(t, tt.class, got.class(), "%v", got.err)
				if tt.class != "" {
					assert.Equal(t, 1, e.Connections())
					return
				}
				assert.Equal(t, 2, e.Connections())
				assert.True(t, got.reply.NewConnection)
				assert.Equal(t, []string{"the server had closed the connection that was kept for the request before anything was written on it: the request was sent on another"}, got.reply.Warnings)
				assert.Equal(t, ms(1), got.tokenTimes())
			})
		})
	}
}

// A request that net/http may send again has its body once in memory.
func TestTheBodyOfARequest(t *testing.T) {
	for _, tt := range []struct {
		what   string
		header http.Header
		http2  bool
		again  bool
	}{
		{"HTTP/1.1", nil, false, true},
		{"HTTP/1.1, and a header vouches for the request", http.Header{"Idempotency-Key": {"1"}}, false, false},
		{"HTTP/2, and a header vouches for the request", http.Header{"Idempotency-Key": {"1"}}, true, true},
	} {
		e, err := New(Config{URL: "http://engine", HTTP2: tt.http2})
		require.NoError(t, err)
		req, body := &http.Request{Header: tt.header}, []byte("the body")
		e.again(req, &payload{whole: body})
		assert.EqualValues(t, len(body), req.ContentLength, tt.what)
		require.Equal(t, tt.again, req.GetBody != nil, tt.what)
		copy(body, "one body") // which shows whose bytes are read
		readers := []io.Reader{req.Body}
		for range 2 {
			if tt.again {
				second, err := req.GetBody()
				require.NoError(t, err)
				readers = append(readers, second)
			}
		}
		for _, r := range readers {
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.Equal(t, "one body", string(got), tt.what)
		}
	}
}
