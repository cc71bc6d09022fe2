package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

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
		once(t, e, r) // again
		require.Len(t, *got, 4)
		for i, what := range []string{"not prepared", "prepared", "prepared for another engine", "sent before"} {
			assert.Equal(t, (*got)[0], (*got)[i], what)
		}
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
		assert.Contains(t, got[4], " true {", "prepared for a connection that was to be kept")
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

// hedging is an engine that wraps ours, has its Prepare by embedding, and sends
// something else than it was asked for, twice at once.
type hedging struct{ *Engine }

func (h hedging) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	own := *r
	own.Text, own.MaxTokens, own.CacheSalt, own.ID = "SYSTEM "+r.Text, 99, "mine", "h1"
	other := make(chan error, 1)
	go func() {
		_, err := h.Engine.Generate(ctx, r, func(engines.Chunk) {})
		other <- err
	}()
	reply, err := h.Engine.Generate(ctx, &own, emit)
	return reply, errors.Join(err, <-other)
}

func TestARequestThatIsChangedAfterPreparing(t *testing.T) {
	server := &picky{}
	inMemory(t, server, Config{Model: "m"}, func(t *testing.T, e *Engine) {
		h := hedging{e}
		r := &engines.Request{ID: "r1", Text: "x", MaxTokens: 8}
		h.Prepare(r)
		_, err := h.Generate(t.Context(), r, func(engines.Chunk) {})
		require.NoError(t, err)
		sent := map[string]string{}
		for i, body := range server.bodies {
			sent[server.header[i].Get("X-Request-Id")] = fmt.Sprintf("%v %v %v", body["prompt"], body["max_tokens"], body["cache_salt"])
		}
		assert.Equal(t, map[string]string{"r1": "x 8 <nil>", "h1": "SYSTEM x 99 mine"}, sent)
	})
}

// What was prepared holds the key; fmt must not print it.
func TestWhatIsPreparedIsNotPrinted(t *testing.T) {
	e, err := New(Config{URL: "http://nowhere", Model: "m", APIKey: "sk-secret"})
	require.NoError(t, err)
	r := &engines.Request{Text: "x", MaxTokens: 1}
	e.Prepare(r)
	require.NotNil(t, r.Prepared)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, v := range []any{r.Prepared, *r, r} {
			text := fmt.Sprintf(verb, v)
			for _, part := range []string{"sk-secret", "115 107 45", fmt.Sprintf("%x", "sk-secret")} {
				assert.NotContains(t, text, part, verb)
			}
		}
	}
}

// Whatever is sent of a request is compared with what it was when it was
// prepared.
func TestEveryFieldOfAPreparedRequest(t *testing.T) {
	before := engines.Request{
		ID: "r1", Tokens: []int32{1, 2}, Text: "x", MaxTokens: 8, MinTokens: 8, IgnoreEOS: true, Temperature: 1, CacheSalt: "s",
		Prepared: "before", Stamp: func() time.Duration { return 1 },
	}
	same := before
	assert.True(t, alike(&before, &same))
	for i, field := range reflect.VisibleFields(reflect.TypeFor[engines.Request]()) {
		changed := before
		require.False(t, reflect.ValueOf(changed).Field(i).IsZero(), "%s: set it above", field.Name)
		reflect.ValueOf(&changed).Elem().Field(i).SetZero()
		sent := field.Name != "Prepared" && field.Name != "Stamp"
		assert.Equal(t, !sent, alike(&before, &changed), field.Name)
	}
	changed := before
	changed.Tokens = slices.Clone(before.Tokens)
	assert.False(t, alike(&before, &changed), "other tokens of the same number")
}
