package launch_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// spoken is a server of a kind for as long as a test lasts; it speaks HTTP/1.1 or,
// if asked, HTTP/2 without TLS beside it.
func spoken(t *testing.T, handler http.Handler, two bool) (url string) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if two {
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetHTTP1(true)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// All engine packages pass on which connections the configuration asks for.
func TestConnectionsOfAllEngines(t *testing.T) {
	embedded := func(flavor sim.Flavor) http.Handler {
		server, err := sim.NewServer(sim.Config{Flavor: flavor})
		require.NoError(t, err)
		t.Cleanup(func() { _ = server.Close() })
		return server.Handler()
	}
	for _, kind := range []struct {
		name    string
		handler http.Handler
		attach  func(context.Context, launch.Config) (engines.Engine, error)
	}{
		{"vllm", embedded(sim.VLLM), func(ctx context.Context, c launch.Config) (engines.Engine, error) { return vllm.Attach(ctx, c) }},
		{"sglang", embedded(sim.SGLang), func(ctx context.Context, c launch.Config) (engines.Engine, error) { return sglang.Attach(ctx, c) }},
		{"llamacpp", &servertest.Server{Owner: "llamacpp", Models: []string{"m"}}, func(ctx context.Context, c launch.Config) (engines.Engine, error) { return llamacpp.Attach(ctx, c) }},
	} {
		for _, test := range []struct {
			name     string
			config   launch.Config
			speaks   bool // HTTP/2
			opened   bool // by the second of two
			protocol string
		}{
			{"kept", launch.Config{}, true, false, ""},
			{"fresh", launch.Config{Fresh: true}, false, true, ""},
			{"HTTP/2", launch.Config{HTTP2: true}, true, false, "HTTP/2.0"},
		} {
			t.Run(kind.name+", "+test.name, func(t *testing.T) {
				test.config.URL = spoken(t, kind.handler, test.speaks)
				engine, err := kind.attach(t.Context(), test.config)
				require.NoError(t, err)
				dialer, ok := engine.(engines.Dialer)
				require.True(t, ok)
				assert.Equal(t, test.config.Fresh, dialer.DialsEach())
				var reply engines.Reply
				for range 2 {
					reply, err = engine.Generate(t.Context(), &engines.Request{Text: "hello", MaxTokens: 2}, func(engines.Chunk) {})
					require.NoError(t, err)
				}
				assert.Equal(t, test.opened, reply.NewConnection)
				assert.Equal(t, test.protocol, reply.Protocol)
			})
		}
		t.Run(kind.name+", behind a proxy", func(t *testing.T) {
			var asked atomic.Int32
			gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1}).ServeHTTP(w, r)
			}))
			defer gate.Close()
			at, err := url.Parse(gate.URL)
			require.NoError(t, err)
			shown := at.String()
			at.User = url.UserPassword("ann", "sesame-street")
			engine, err := kind.attach(t.Context(), launch.Config{URL: spoken(t, kind.handler, false), Proxy: http.ProxyURL(at)})
			require.NoError(t, err)
			proxied, ok := engine.(engines.Proxied)
			require.True(t, ok)
			used, unused := proxied.Proxy()
			assert.Equal(t, []string{shown, ""}, []string{used, unused})
			assert.Positive(t, asked.Load())
			id, err := engine.(engines.Describer).Describe(t.Context())
			require.NoError(t, err)
			assert.Equal(t, shown, id.Settings["proxy"])
		})
		t.Run(kind.name+", HTTP/2 to a server that does not speak it", func(t *testing.T) {
			url := spoken(t, kind.handler, false)
			_, err := kind.attach(t.Context(), launch.Config{URL: url, HTTP2: true})
			assert.ErrorContains(t, err, "the server does not answer in HTTP/2: leave Config.HTTP2 off")
		})
	}
}

// Each generation on a connection of its own, as a client without a pool has it.
func ExampleConfig_fresh() {
	server, err := sim.NewServer(sim.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := httptest.NewServer(server.Handler())
	defer func() { h.Close(); _ = server.Close() }()
	ctx := context.Background()
	for _, fresh := range []bool{false, true} {
		engine, err := vllm.Attach(ctx, vllm.Config{URL: h.URL, Fresh: fresh})
		if err != nil {
			fmt.Println(err)
			return
		}
		reply, err := engine.Generate(ctx, &engines.Request{Text: "hello", MaxTokens: 1}, func(engines.Chunk) {})
		fmt.Println(engine.DialsEach(), reply.NewConnection, err)
	}
	// Output:
	// false false <nil>
	// true true <nil>
}
