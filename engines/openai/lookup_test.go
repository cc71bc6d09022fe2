package openai

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

const (
	lookedUpSlowly   = `the look-up of host "engine" took 1ms or longer, which is in TTFT: use an address in the URL, or let connections be kept`
	lookedUpForLong  = `the look-up of host "engine" took 100ms or longer, which is in TTFT: use an address in the URL, or let connections be kept`
	proxyLookedUpFor = `the look-up of host "gate" took 1ms or longer, which is in TTFT: use an address in Config.Proxy, or let connections be kept`
)

// lookingUp is a dialer that looks a name up for so long before it dials; below zero
// it gets no answer.
func lookingUp(dial dialer, took time.Duration) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		trace := httptrace.ContextClientTrace(ctx)
		if trace == nil || trace.DNSStart == nil { // it is an address
			return dial(ctx, network, addr)
		}
		trace.DNSStart(httptrace.DNSStartInfo{})
		defer trace.DNSDone(httptrace.DNSDoneInfo{})
		if took < 0 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		time.Sleep(took)
		return dial(ctx, network, addr)
	}
}

// byBoth calls f with clients of a server in memory, one for each transport, that
// look its name up for so long.
func byBoth(t *testing.T, cfg Config, took time.Duration, f func(t *testing.T, e *Engine)) {
	t.Helper()
	for what, direct := range map[string]bool{"direct": true, "net/http": false} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				server := &http.Server{Handler: script{steps: []step{{at: 1e6, send: completion("a") + ended}}}}
				go server.Serve(m)
				defer server.Close()
				if cfg.URL == "" {
					cfg.URL = "http://engine"
				}
				cfg.Dial = lookingUp(m.dial, took)
				e, err := New(cfg)
				require.NoError(t, err)
				defer e.Close()
				e.direct = nil
				if direct {
					e.direct = pumped(e)
				}
				f(t, e)
			})
		})
	}
}

// A look-up that a request waited for is told by its reply if it took any time,
// in the same words each time.
func TestASlowLookUpIsTold(t *testing.T) {
	for _, tt := range []struct {
		what  string
		cfg   Config
		took  time.Duration
		ahead bool
		want  [3]string // of the replies
	}{
		{"a quick one", Config{Fresh: true}, time.Millisecond - 1, false, [3]string{}},
		{"a slow one, for each request", Config{Fresh: true}, time.Millisecond, false, [3]string{lookedUpSlowly, lookedUpSlowly, lookedUpSlowly}},
		{"one that is not yet long", Config{}, 100*time.Millisecond - 1, false, [3]string{lookedUpSlowly}},
		{"a long one, for the first request", Config{}, 100 * time.Millisecond, false, [3]string{lookedUpForLong}},
		{"a slow one, before the load", Config{}, time.Second, true, [3]string{}},
		{"an address", Config{URL: "http://127.0.0.1", Fresh: true}, time.Second, false, [3]string{}},
		{"an address of IPv6", Config{URL: "http://[::1]:80", Fresh: true}, time.Second, false, [3]string{}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			byBoth(t, tt.cfg, tt.took, func(t *testing.T, e *Engine) {
				if tt.ahead {
					require.NoError(t, e.Warm(t.Context(), 1))
				}
				for i, told := range tt.want {
					got := generate(t, e)
					require.NoError(t, got.err)
					var want []string
					if told != "" {
						want = []string{told}
						assert.Equal(t, tt.took, got.reply.Connect)
					}
					assert.Equal(t, want, got.reply.Warnings, "request %d", i)
				}
			})
		})
	}
}

// Behind a proxy it is the proxy's name that is looked up, and its address that
// helps; not where Config.Proxy leaves the server out.
func TestASlowLookUpOfAProxyIsTold(t *testing.T) {
	for what, tt := range map[string]struct{ proxy, want string }{
		"behind it": {"http://gate:3128", proxyLookedUpFor}, "left out": {"", lookedUpSlowly},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				server := &http.Server{Handler: script{steps: []step{{at: 1e6, send: completion("a") + ended}}}}
				go server.Serve(m)
				defer server.Close()
				e, err := New(Config{URL: "http://engine", Dial: lookingUp(m.dial, 2*time.Millisecond), Proxy: func(*http.Request) (*url.URL, error) {
					if tt.proxy == "" {
						return nil, nil
					}
					return url.Parse(tt.proxy)
				}})
				require.NoError(t, err)
				defer e.Close()
				got := generate(t, e)
				require.NoError(t, got.err)
				assert.Equal(t, []string{tt.want}, got.reply.Warnings)
			})
		})
	}
}

// A name server that does not answer is named before a request's time is up, if
// that is longer than name servers take.
func TestALookUpWithoutAnAnswer(t *testing.T) {
	for _, tt := range []struct {
		what  string
		limit time.Duration
		class engines.Class
		says  string
		after time.Duration
	}{
		{"in time", 6 * time.Second, engines.Unreachable,
			`host "engine" could not be looked up in time: correct this host's name server, or use an address in the URL`, 5500 * time.Millisecond},
		{"after the caller's time", 5 * time.Second, engines.Canceled, "canceled: context deadline exceeded", 5 * time.Second},
	} {
		t.Run(tt.what, func(t *testing.T) {
			byBoth(t, Config{}, -1, func(t *testing.T, e *Engine) {
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
				defer cancel()
				_, err := e.Generate(ctx, &engines.Request{Text: "x", MaxTokens: 5}, func(engines.Chunk) {})
				failure := requireClass(t, tt.class, result{err: err})
				assert.Equal(t, "http://engine: POST /v1/completions: "+tt.says, failure.Message)
				assert.Equal(t, tt.after, time.Since(start))
				time.Sleep(lookupLimit) // what net/http still dials ends
			})
		})
	}
	t.Run("that comes when it is asked again", func(t *testing.T) {
		byBoth(t, Config{}, 5100*time.Millisecond, func(t *testing.T, e *Engine) {
			got := generate(t, e)
			require.NoError(t, got.err)
			assert.Equal(t, []string{lookedUpForLong}, got.reply.Warnings)
		})
	})
}
