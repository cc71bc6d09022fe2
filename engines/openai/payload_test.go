package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A body is let go once it was sent and its answer has begun, in either order, and
// not while it may be sent anew.
func TestWhenABodyIsLetGo(t *testing.T) {
	wrote := func(err error) func(*payload) {
		return func(p *payload) { p.wrote(httptrace.WroteRequestInfo{Err: err}) }
	}
	read := func(p *payload) { p.reader() }
	for _, tt := range []struct {
		what  string
		steps []func(*payload)
		gone  bool
	}{
		{"it is being sent", nil, false},
		{"it was sent", []func(*payload){wrote(nil)}, false},
		{"the answer came early", []func(*payload){(*payload).answered}, false},
		{"it was sent and answered", []func(*payload){wrote(nil), (*payload).answered}, true},
		{"it was answered early, and then sent", []func(*payload){(*payload).answered, wrote(nil)}, true},
		{"it was answered early, and then not read", []func(*payload){(*payload).answered, wrote(io.ErrClosedPipe)}, false},
		{"it is being sent anew, and was answered early", []func(*payload){wrote(nil), read, (*payload).answered}, false},
		{"it was sent anew and answered", []func(*payload){wrote(io.ErrClosedPipe), read, wrote(nil), (*payload).answered}, true},
	} {
		p := &payload{whole: []byte("body")}
		read(p)
		readers := slices.Clone(p.readers)
		for _, step := range tt.steps {
			step(p)
			readers = append(readers, p.readers...)
		}
		left := []byte("body")
		if tt.gone {
			left = nil
		}
		assert.Equal(t, left, p.whole, tt.what)
		for _, r := range readers {
			assert.Equal(t, len(left), r.Len(), tt.what)
		}
	}
}

// A stream does not keep its prompt in memory, by whichever transport it comes.
func TestAStreamKeepsNoPrompt(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, running("a", 1))
		http.NewResponseController(w).Flush()
		<-release
		io.WriteString(w, running("b", 2)+ended)
	}))
	defer server.Close()
	for _, other := range []bool{false, true} {
		e, err := New(Config{URL: server.URL})
		require.NoError(t, err)
		if other {
			e.direct = nil
		}
		r := &engines.Request{Text: strings.Repeat("long ", 100_000), MaxTokens: 2}
		e.Prepare(r)
		out := weak.Make(&(*r.Prepared.(*prepared).out.Load())[0])
		first, over := make(chan struct{}, 3), make(chan error)
		go func() {
			_, err := e.Generate(t.Context(), r, func(engines.Chunk) { first <- struct{}{} })
			over <- err
		}()
		<-first
		assert.Eventually(t, func() bool { runtime.GC(); return out.Value() == nil }, 10*time.Second, time.Millisecond)
		release <- struct{}{}
		require.NoError(t, <-over)
		e.Close()
	}
}
