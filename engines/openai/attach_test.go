package openai

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// reply is a handler that gives one answer to every request.
func reply(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func TestAttachSaysWhatIsWrongInOneSentence(t *testing.T) {
	for _, tt := range []struct {
		what, model string
		server      http.HandlerFunc
		class       engines.Class
		want        string // after "attach to URL: "
	}{
		{"a key is missing", "", reply(401, `{"error":{"message":"Unauthorized"}}`), engines.Unauthorized,
			"GET /v1/models: 401 Unauthorized: Unauthorized: the API key that was sent is refused: correct it (OPENLOOP_API_KEY)"},
		{"the key is wrong", "", reply(403, ""), engines.Unauthorized,
			"GET /v1/models: 403 Forbidden: the API key that was sent is refused: correct it (OPENLOOP_API_KEY)"},
		{"another kind of server", "", reply(404, "404 page not found\n"), engines.Status,
			"GET /v1/models: 404 Not Found: 404 page not found: the server has no such route"},
		{"a web page", "", reply(200, "<html><head><title>Welcome to nginx!</title>"), engines.Protocol,
			`GET /v1/models: no JSON came but an HTML page ("Welcome to nginx!"): is this the root of the server's API?`},
		{"nothing", "", reply(200, ""), engines.Protocol,
			"GET /v1/models: no JSON came but an empty body: is this the root of the server's API?"},
		{"other JSON", "", reply(200, `["a"]`), engines.Protocol,
			`GET /v1/models: no JSON came but ["a"]: is this the root of the server's API?`},
		{"still loading", "", reply(503, `{"error":{"message":"Loading model"}}`), engines.Refused,
			"GET /v1/models: 503 Service Unavailable: Loading model"},
		{"P13 another model", "x", reply(200, `{"data":[{"id":"a"},{"id":"b"}]}`), engines.NoModel,
			`model "x" is not served: the server serves "a", "b"`},
		{"the model under another name", "org/x", reply(200, `{"data":[{"id":"x","root":"org/x"}]}`), engines.NoModel,
			`model "org/x" is served as "x": ask for that name`},
		{"no model named, several served", "", reply(200, `{"data":[{"id":"a"},{"id":"b"}]}`), engines.NoModel,
			`the server serves "a", "b": set the model to one of them`},
		{"no model served", "", reply(200, `{"data":[]}`), engines.NoModel,
			"the server lists no model: wait until it has loaded one"},
		{"no list", "a", reply(200, `{"status":"ok"}`), engines.NoModel,
			"the server lists no model: wait until it has loaded one"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			server := httptest.NewServer(tt.server)
			defer server.Close()
			_, err := Attach(t.Context(), Config{URL: server.URL, Model: tt.model, APIKey: "sk-secret"})
			failure := requireClass(t, tt.class, result{err: err})
			assert.Equal(t, "attach to "+server.URL+": "+tt.want, failure.Message)
		})
	}
}

func TestAttachWhereNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + l.Addr().String()
	l.Close()
	_, err = Attach(t.Context(), Config{URL: url})
	failure := requireClass(t, engines.Unreachable, result{err: err})
	assert.Equal(t, "attach to "+url+": GET /v1/models: connection refused: start the server or correct the URL", failure.Message)
	assert.True(t, refused(err))

	for _, tt := range []struct {
		cause *net.DNSError
		want  string
	}{
		{&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}, `host "host" not found: correct the URL`},
		{&net.DNSError{Err: "server misbehaving", Name: "host"}, `host "host" could not be looked up: server misbehaving: correct this host's name server, or use an address in the URL`},
	} {
		dial := failing(&net.OpError{Op: "dial", Net: "tcp", Err: tt.cause})
		_, err = Attach(t.Context(), Config{URL: "http://host", Dial: dial})
		failure = requireClass(t, engines.Unreachable, result{err: err})
		assert.Equal(t, "attach to http://host: GET /v1/models: "+tt.want, failure.Message)
	}

	_, err = Attach(t.Context(), Config{})
	assert.EqualError(t, err, "openai: Config.URL is missing: set the server's root, as in http://127.0.0.1:8000")
}

func TestAttachToAServerThatHangs(t *testing.T) {
	hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	inMemory(t, hang, Config{}, func(t *testing.T, e *Engine) {
		start := time.Now()
		_, err := e.Models(t.Context())
		assert.Equal(t, answerTimeout, time.Since(start))
		failure := requireClass(t, engines.Silent, result{err: err})
		assert.Equal(t, "http://engine: GET /v1/models: no answer within 10s: the server takes connections and hangs: look into its log", failure.Message)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = e.Models(ctx)
		requireClass(t, engines.Canceled, result{err: err})
	})
}

func TestAttachFindsTheModel(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/models", reply(200, `{"object":"list","data":[{"id":"a","root":"org/a","owned_by":"me","parent":null,"max_model_len":8192}]}`))
	mux.Handle("GET /version", reply(200, `{"version":"0.32.0"}`))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, model := range []string{"", "a"} {
		e, err := Attach(t.Context(), Config{URL: server.URL, Model: model})
		require.NoError(t, err)
		defer e.Close()
		assert.Equal(t, "a", e.Model())
		models, err := e.Models(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []Model{{ID: "a", Root: "org/a", OwnedBy: "me", MaxLen: engines.Known(8192)}}, models)
		id, err := e.Describe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Identity{Engine: "openai", Version: "0.32.0", Model: "a", Settings: map[string]string{"root": "org/a"}}, id)
	}
}

func TestDescribeLeavesOpenWhatTheServerDoesNotSay(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/models", reply(200, `{"data":[{"id":"a"}]}`))
	inMemory(t, mux, Config{Kind: "other"}, func(t *testing.T, e *Engine) {
		id, err := e.Describe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Identity{Engine: "other", Model: "a", Settings: map[string]string{}}, id)
	})
	inMemory(t, http.NotFoundHandler(), Config{}, func(t *testing.T, e *Engine) {
		_, err := e.Describe(t.Context())
		requireClass(t, engines.Status, result{err: err})
	})
}
