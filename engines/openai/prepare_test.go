package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// asked keeps what a server was asked, to the byte but for the order of headers.
func asked(to *[]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*to = append(*to, fmt.Sprintln(r.Method, r.URL, r.Host, r.Header, r.Close, string(body)))
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, running("a", 1)+ended)
	})
}

// A prepared request goes out as any other, by net/http and by the direct
// transport.
func TestAPreparedRequest(t *testing.T) {
	request := func() *engines.Request {
		return &engines.Request{ID: "r1", Tokens: []int32{1, 20, 300}, MaxTokens: 8, MinTokens: 8, IgnoreEOS: true, CacheSalt: "s"}
	}
	once := func(t *testing.T, e *Engine, r *engines.Request) {
		t.Helper()
		_, err := e.Generate(t.Context(), r, func(engines.Chunk) {})
		require.NoError(t, err)
		assert.Nil(t, r.Prepared)
	}
	check := func(t *testing.T, e *Engine, other *Engine, got *[]string) {
		once(t, e, request())
		r := request()
		e.Prepare(r)
		require.NotNil(t, r.Prepared)
		once(t, e, r)
		r = request()
		other.Prepare(r)
		require.NotNil(t, r.Prepared)
		once(t, e, r)
		require.Len(t, *got, 3)
		assert.Equal(t, (*got)[0], (*got)[1], "prepared")
		assert.Equal(t, (*got)[0], (*got)[2], "prepared for another engine")
	}
	other, err := New(Config{URL: "http://elsewhere", Model: "other"})
	require.NoError(t, err)
	t.Run("net/http", func(t *testing.T) {
		var got []string
		inMemory(t, asked(&got), Config{Model: "m"}, func(t *testing.T, e *Engine) { check(t, e, other, &got) })
	})
	t.Run("sockets", func(t *testing.T) {
		var got []string
		server := httptest.NewServer(asked(&got))
		defer server.Close()
		e, err := New(Config{URL: server.URL, Model: "m"})
		require.NoError(t, err)
		defer e.Close()
		check(t, e, other, &got)
		r := request()
		e.Prepare(r)
		e.cfg.Fresh = true // as once a server was found to close each connection
		once(t, e, r)
		assert.Contains(t, got[3], " true {", "prepared for a connection that was to be kept")
	})
}

// What a server was found to reject is not sent because it had been prepared.
func TestAFormThatChangesAfterPreparing(t *testing.T) {
	server := &picky{code: 400, rejects: map[string]string{"ignore_eos": "unknown field ignore_eos"}}
	inMemory(t, server, Config{}, func(t *testing.T, e *Engine) {
		prepare := func(r *engines.Request) { r.IgnoreEOS = true; e.Prepare(r) }
		first := &engines.Request{ID: "r0", Text: "x", MaxTokens: 8}
		prepare(first)
		got := generate(t, e, prepare)
		require.NoError(t, got.err)
		require.Len(t, server.bodies, 2)
		_, err := e.Generate(t.Context(), first, func(engines.Chunk) {})
		require.NoError(t, err)
		require.Len(t, server.bodies, 3)
		assert.NotContains(t, server.bodies[2], "ignore_eos")
	})
}

// What cannot be sent is not prepared, and Generate says why.
func TestWhatCannotBePrepared(t *testing.T) {
	e, err := New(Config{URL: "http://nowhere", Model: "m"})
	require.NoError(t, err)
	r := &engines.Request{Text: "x"}
	e.Prepare(r)
	assert.Nil(t, r.Prepared)
	_, err = e.Generate(t.Context(), r, func(engines.Chunk) {})
	assert.EqualError(t, err, "openai: Request.MaxTokens must be positive, got 0")
}
