package openai

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A server that lets few streams share a connection: the others get further
// connections. One that is put on a new connection before the server has told
// its cap may be given back, and then its reply says why it left late.
func TestHTTP2WithALowStreamCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		server := &http.Server{
			Handler:   script{steps: []step{{at: time.Second, send: running("a", 1)}, {at: 1500 * time.Millisecond, send: running("b", 2) + usage(2) + ended}}},
			Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 2},
		}
		server.Protocols.SetUnencryptedHTTP2(true)
		go server.Serve(m)
		defer server.Close()
		e, err := New(Config{URL: "http://engine", Dial: m.dial, HTTP2: true})
		require.NoError(t, err)
		defer e.Close()
		require.NoError(t, generate(t, e).err)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				got := generate(t, e)
				assert.NoError(t, got.err)
				assert.Equal(t, "HTTP/2.0", got.reply.Protocol)
				left := got.reply.Sent
				assert.Equal(t, []time.Duration{left + time.Second, left + 1500*time.Millisecond}, got.tokenTimes())
				if left > 0 {
					assert.Contains(t, got.reply.Warnings, moved)
				}
			})
		}
		all.Wait()
		assert.GreaterOrEqual(t, e.Connections(), 2, "two streams a connection")
	})
}

// What a low cap costs is told: which it is, that a request had to wait for a
// further connection for it, and how long, in Connect and in all that is measured
// from the schedule.
func TestHTTP2SaysWhatItsStreamCapCosts(t *testing.T) {
	const dial = 100 * time.Millisecond
	for _, most := range []int{1, 10} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			server := &http.Server{
				Handler:   script{steps: []step{{at: time.Second, send: completion("a") + ended}}},
				Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: most},
			}
			server.Protocols.SetUnencryptedHTTP2(true)
			go server.Serve(m)
			defer server.Close()
			e, err := New(Config{URL: "http://engine", Dial: slowly(m.dial, dial), HTTP2: true})
			require.NoError(t, err)
			defer e.Close()
			first := generate(t, e)
			require.NoError(t, first.err)
			assert.True(t, first.reply.NewConnection)
			assert.Equal(t, dial, first.reply.Connect)
			assert.Empty(t, first.reply.Warnings)

			n := 2*most + 1
			replies := make([]engines.Reply, n)
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() {
					got := generate(t, e)
					assert.NoError(t, got.err)
					assert.Equal(t, got.reply.Sent, got.reply.Connect, "it left when it had its connection")
					assert.Equal(t, []time.Duration{got.reply.Sent + time.Second}, got.tokenTimes())
					replies[i] = got.reply
				})
			}
			all.Wait()
			said := fmt.Sprintf("HTTP/2: the server allows %d streams at once on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), so that the request had to wait for a further one", most)
			onFirst, waited := 0, 0
			for _, r := range replies {
				switch {
				case slices.Contains(r.Warnings, moved):
					// It was given back, and net/http may have let it wait for 1 to 1.1 s.
					if r.Connect >= time.Second {
						continue
					}
					assert.Zero(t, r.Connect%dial, "%v", r.Connect)
				case len(r.Warnings) > 0:
					assert.Equal(t, []string{said}, r.Warnings)
					// Others may have filled the first connection that it waited for.
					assert.Zero(t, r.Connect%dial, "%v", r.Connect)
					assert.Positive(t, r.Connect)
					waited++
				default:
					assert.Zero(t, r.Connect, "it found room on the connection that was there")
					assert.False(t, r.NewConnection)
					onFirst++
				}
			}
			assert.LessOrEqual(t, onFirst, most)
			assert.Positive(t, waited)
		})
	}
}

// The same over TLS, on real connections: no request waits for another's end.
func TestHTTP2OverTLSWithALowStreamCap(t *testing.T) {
	const most, n = 3, 7
	var arrived sync.WaitGroup
	url, trust := overTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Request-Id") == "together" {
			arrived.Done()
			arrived.Wait()
		}
		streaming(w, r)
	}), func(s *httptest.Server) { s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: most} })
	e, err := New(Config{URL: url, HTTP2: true, TLS: trust})
	require.NoError(t, err)
	defer e.Close()
	require.NoError(t, generate(t, e).err)
	arrived.Add(n)
	var all sync.WaitGroup
	var mu sync.Mutex
	told := 0
	for range n {
		all.Go(func() {
			got := generate(t, e, func(r *engines.Request) { r.ID = "together" })
			assert.NoError(t, got.err)
			assert.GreaterOrEqual(t, got.reply.Sent, got.reply.Connect)
			mu.Lock()
			defer mu.Unlock()
			if slices.Contains(got.reply.Warnings, fmt.Sprintf(capped, most)) {
				told++
			}
		})
	}
	all.Wait()
	assert.Positive(t, told)
	assert.GreaterOrEqual(t, e.Connections(), 3, "for seven streams of which three fit on one")
}

func TestHTTP2OverTLS(t *testing.T) {
	url, trust := overTLS(t, streaming, nil)
	e, err := New(Config{URL: url, HTTP2: true, TLS: trust})
	require.NoError(t, err)
	defer e.Close()
	for range 2 {
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, "HTTP/2.0", got.reply.Protocol)
		assert.Equal(t, []int{1, 1}, got.tokenCounts())
		assert.Greater(t, got.reply.Sent, time.Duration(0))
		assert.GreaterOrEqual(t, got.reply.FirstEvent, got.reply.Sent)
	}
	assert.Equal(t, 1, e.Connections())
}

func TestHTTP2ToAServerThatDoesNotSpeakIt(t *testing.T) {
	// One that does not hang up as it answers: what is written after that could
	// break first, and only that be known.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
				_, _ = io.Copy(io.Discard, c) // until the client hangs up
			}()
		}
	}()
	url := "http://" + l.Addr().String()
	e, err := New(Config{URL: url, HTTP2: true})
	require.NoError(t, err)
	defer e.Close()
	got := generate(t, e)
	failure := requireClass(t, engines.Protocol, got)
	assert.Equal(t, url+": POST /v1/completions: the server does not answer in HTTP/2: leave Config.HTTP2 off", failure.Message)
}
