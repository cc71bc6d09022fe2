package openai

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestStatusesThatFail(t *testing.T) {
	for _, tt := range []struct {
		what    string
		code    int
		header  string
		body    string
		class   engines.Class
		message string
		after   time.Duration
	}{
		{"S27 overloaded", 503, "Retry-After: 1", "", engines.Refused, "503 Service Unavailable", time.Second},
		{"S27 too many", 429, "Retry-After: 20", `{"error":{"message":"slow down"}}`, engines.Refused, "429 Too Many Requests: slow down", 20 * time.Second},
		{"loading", 503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, engines.Refused, "503 Service Unavailable: Loading model", 0},
		{"S28 not found", 404, "", strings.Repeat("x", 400), engines.Status, "404 Not Found: " + strings.Repeat("x", 300) + "…: the server has no such route", 0},
		{"no model", 404, "", `{"object":"error","message":"The model \"x\" does not exist.","type":"NotFoundError","code":404}`, engines.NoModel,
			`404 Not Found: The model "x" does not exist.: ask for a model that the server serves`, 0},
		{"no key", 401, "", `{"error":"Unauthorized"}`, engines.Unauthorized, "401 Unauthorized: Unauthorized: no API key was sent: set it (OPENLOOP_API_KEY)", 0},
		{"forbidden", 403, "", "<html><title>403 Forbidden</title></html>", engines.Unauthorized, `403 Forbidden: an HTML page ("403 Forbidden"): no API key was sent: set it (OPENLOOP_API_KEY)`, 0},
		{"bad request", 400, "", `{"detail":"too long"}`, engines.Status, "400 Bad Request: too long", 0},
		{"validation", 422, "", `{"detail":[{"loc":["body","prompt"],"msg":"field required"}]}`, engines.Status,
			`422 Unprocessable Entity: [{"loc":["body","prompt"],"msg":"field required"}]`, 0},
		{"server error", 500, "", "Internal Server Error", engines.Status, "500 Internal Server Error: Internal Server Error", 0},
		{"what a terminal would act on", 500, "", "\x1b[2Jno\x00 \u202e", engines.Status, "500 Internal Server Error: \uFFFD[2Jno\uFFFD \uFFFD", 0},
		{"moved, with secrets", 302, "Location: https://ann:sesame@login/start?token=sesame#sesame", "", engines.Status,
			"302 Found: it points to https://login/start?…, which is not followed: correct the URL", 0},
		{"TLS, by Go", 400, "", "Client sent an HTTP request to an HTTPS server.\n", engines.Status,
			"400 Bad Request: Client sent an HTTP request to an HTTPS server.: the server speaks TLS: use https:// in the URL", 0},
		{"TLS, by nginx", 400, "", "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title>", engines.Status,
			`400 Bad Request: an HTML page ("400 The plain HTTP request was sent to HTTPS port"): the server speaks TLS: use https:// in the URL`, 0},
		{"TLS, by Apache", 400, "", "Reason: You're speaking plain HTTP to an SSL-enabled server port.", engines.Status,
			"400 Bad Request: Reason: You're speaking plain HTTP to an SSL-enabled server port.: the server speaks TLS: use https:// in the URL", 0},
		{"a gateway without its server", 502, "", "<html><title>502 Bad Gateway</title></html>", engines.Status,
			`502 Bad Gateway: an HTML page ("502 Bad Gateway"): what is before the server got no answer from it: look into both logs`, 0},
		{"a gateway whose server hangs", 504, "", "", engines.Status, "504 Gateway Timeout: what is before the server got no answer from it: look into both logs", 0},
		{"a proxy's password", 407, "", "", engines.Status,
			"407 Proxy Authentication Required: give the proxy its user and password in the URL of Config.Proxy", 0},
		{"moved", 307, "Location: https://other/v1/completions", "", engines.Status,
			"307 Temporary Redirect: it points to https://other/v1/completions, which is not followed: correct the URL", 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			calls := 0
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				if name, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.code)
				io.WriteString(w, tt.body)
			})
			inMemory(t, handler, Config{}, func(t *testing.T, e *Engine) {
				got := generate(t, e)
				failure := requireClass(t, tt.class, got)
				assert.Equal(t, "http://engine: POST /v1/completions: "+tt.message, failure.Message)
				assert.Equal(t, tt.code, failure.Status)
				assert.Equal(t, tt.after, failure.RetryAfter)
				assert.Equal(t, tt.code, got.reply.Status)
				assert.Empty(t, got.chunks)
				assert.Equal(t, 1, calls, "requests sent")
			})
		})
	}
}

// What is refused is named: of an API key, user information and a header one alone
// is sent.
func TestWhatIsRefusedWithA401(t *testing.T) {
	header := http.Header{"Authorization": {"Basic c2VzYW1lOm9wZW4="}}
	const (
		key  = "the API key that was sent is refused: correct it (OPENLOOP_API_KEY)"
		user = "the user and password of Config.URL are refused: correct them, or set the API key (OPENLOOP_API_KEY)"
	)
	for _, tt := range []struct {
		what, sent, want string
		cfg              Config
	}{
		{"nothing", "", "no API key was sent: set it (OPENLOOP_API_KEY)", Config{}},
		{"a key", "Bearer sesame-open", key, Config{APIKey: "sesame-open"}},
		{"a key, a user and a header", "Bearer sesame-open", key, Config{APIKey: "sesame-open", URL: "http://ann:sesame@engine", Header: header}},
		{"a user", "Basic YW5uOnNlc2FtZQ==", user, Config{URL: "http://ann:sesame@engine"}},
		{"a user and a header", "Basic YW5uOnNlc2FtZQ==", user, Config{URL: "http://ann:sesame@engine", Header: header}},
		{"a header", "Basic c2VzYW1lOm9wZW4=", "the Authorization of Config.Header is refused: correct it, or set the API key (OPENLOOP_API_KEY)", Config{Header: header}},
		{"another header", "", "set the API key (OPENLOOP_API_KEY) or correct Config.Header", Config{Header: http.Header{"X-Gate": {"open"}}}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			sent := ""
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = r.Header.Get("Authorization")
				w.WriteHeader(http.StatusUnauthorized)
			})
			inMemory(t, handler, tt.cfg, func(t *testing.T, e *Engine) {
				failure := requireClass(t, engines.Unauthorized, generate(t, e))
				assert.Equal(t, "http://engine: POST /v1/completions: 401 Unauthorized: "+tt.want, failure.Message)
				assert.Equal(t, tt.sent, sent)
			})
		})
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(7*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(503)
	})
	inMemory(t, handler, Config{}, func(t *testing.T, e *Engine) {
		assert.Equal(t, 7*time.Second, requireClass(t, engines.Refused, generate(t, e)).RetryAfter)
	})
}

// S29 and its neighbours: when a connection breaks before a reply.
func TestConnectionsThatBreakBeforeTheReply(t *testing.T) {
	// once answers one request on a connection and calls then for the next.
	once := func(then func(c net.Conn)) func(c net.Conn) {
		return func(c net.Conn) {
			buf := make([]byte, 64<<10)
			c.Read(buf)
			io.WriteString(c, chunked(completion("a"), ended))
			c.Read(buf)
			then(c)
		}
	}
	rawMemory(t, once(func(c net.Conn) { c.Close() }), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		got := generate(t, e)
		failure := requireClass(t, engines.Stale, got)
		assert.Contains(t, failure.Message, "the server closed the connection, kept alive from an earlier request, as this one was sent")
		assert.Equal(t, 1, e.Connections(), "the request was not sent again")
		assert.False(t, got.reply.NewConnection)
	})
	rawMemory(t, once(func(c net.Conn) { time.Sleep(time.Second); c.Close() }), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		failure := requireClass(t, engines.Reset, generate(t, e))
		assert.Equal(t, 1, e.Connections())
		assert.Contains(t, failure.Message, "closed", "a server that dies at work is no stale connection")
	})
	rawMemory(t, func(c net.Conn) { c.Read(make([]byte, 64<<10)); c.Close() }, Config{}, func(t *testing.T, e *Engine) {
		requireClass(t, engines.Reset, generate(t, e))
		assert.Equal(t, 1, e.Connections())
	})
	rawMemory(t, func(c net.Conn) {
		drain(c)
		time.Sleep(time.Millisecond)
		io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
	}, Config{}, func(t *testing.T, e *Engine) {
		requireClass(t, engines.Protocol, generate(t, e))
	})
	// An Idempotency-Key would have net/http send a request again.
	cfg := Config{Header: http.Header{"Idempotency-Key": {"1234"}}}
	rawMemory(t, once(func(c net.Conn) { c.Close() }), cfg, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		requireClass(t, engines.Stale, generate(t, e))
		assert.Equal(t, 1, e.Connections(), "the request was not sent again")
	})
	// A connection is not used again when a server may be about to close it.
	rawMemory(t, once(func(c net.Conn) { c.Close() }), Config{}, func(t *testing.T, e *Engine) {
		require.NoError(t, generate(t, e).err)
		time.Sleep(idleTimeout + time.Millisecond)
		require.NoError(t, generate(t, e).err)
		assert.Equal(t, 2, e.Connections())
	})
}

func TestMisuseIsRefusedBeforeAnythingIsSent(t *testing.T) {
	chatting, err := New(Config{URL: "http://127.0.0.1:1", Chat: true})
	require.NoError(t, err)
	completing, err := New(Config{URL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	for _, tt := range []struct {
		engine  *Engine
		request engines.Request
		want    string
	}{
		{completing, engines.Request{}, "openai: Request has no prompt: set Tokens or Text; Request.MaxTokens must be positive, got 0"},
		{completing, engines.Request{Tokens: []int32{}, MaxTokens: 1}, "openai: Request.Tokens is empty: it needs at least one id"},
		{completing, engines.Request{Tokens: []int32{5, -1}, MaxTokens: 1}, "openai: Request.Tokens[1] must not be negative, got -1"},
		{completing, engines.Request{Text: "x", MaxTokens: 3, MinTokens: 4}, "openai: Request.MinTokens must be from 0 to MaxTokens, which is 3, got 4"},
		{completing, engines.Request{Text: "x", MaxTokens: 3, Temperature: -1}, "openai: Request.Temperature must be a number from 0 on, got -1"},
		{completing, engines.Request{Text: "x", MaxTokens: 3, ID: "a\nb"}, `openai: Request.ID must be printable ASCII, got "a\nb"`},
		{chatting, engines.Request{Tokens: []int32{5}, MaxTokens: 1},
			"openai: Request.Tokens cannot be sent to /v1/chat/completions, which takes text: set Request.Text, or Config.Chat to false"},
	} {
		_, err := tt.engine.Generate(t.Context(), &tt.request, nil)
		failure := requireClass(t, engines.Misuse, result{err: err})
		assert.Equal(t, tt.want, failure.Message)
		assert.Zero(t, tt.engine.Connections())
	}
}
