package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// step is something a scripted server does at a time after the request came.
type step struct {
	at   time.Duration
	send string
	// drop breaks the connection off.
	drop bool
}

// script is a handler that streams its steps. headers are sent at once.
type script struct {
	steps []step
	kind  string // content type; empty is an event stream's
	code  int
}

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, flush := time.Now(), http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	if s.kind != "" {
		w.Header().Set("Content-Type", s.kind)
	}
	if s.code != 0 {
		w.WriteHeader(s.code)
	}
	flush.Flush()
	for _, step := range s.steps {
		select {
		case <-time.After(time.Until(start.Add(step.at))):
		case <-r.Context().Done():
			return
		}
		if step.drop {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, step.send)
		flush.Flush()
	}
}

// origin is how long before the request the driver's clock began.
const origin = time.Second

// result is what came of one generation, its times since the request.
type result struct {
	chunks []engines.Chunk
	reply  engines.Reply
	err    error
}

// generate asks for one generation; it is made to see the contract kept.
func generate(t *testing.T, e *Engine, change ...func(*engines.Request)) result {
	t.Helper()
	start := time.Now().Add(-origin)
	r := &engines.Request{ID: "r1", Text: "hello", MaxTokens: 8, Stamp: func() time.Duration { return time.Since(start) }}
	for _, f := range change {
		f(r)
	}
	var got result
	got.reply, got.err = e.Generate(t.Context(), r, func(c engines.Chunk) {
		c.At -= origin
		got.chunks = append(got.chunks, c)
	})
	for _, at := range []*time.Duration{&got.reply.Sent, &got.reply.FirstEvent, &got.reply.Closed} {
		if *at != 0 {
			*at -= origin
		}
	}
	return got
}

// tokenTimes are the times of the token events.
func (r result) tokenTimes() []time.Duration {
	var times []time.Duration
	for _, c := range r.chunks {
		if c.Token {
			times = append(times, c.At)
		}
	}
	return times
}

// tokenCounts are the counts of the token events; -1 is unknown.
func (r result) tokenCounts() []int {
	var counts []int
	for _, c := range r.chunks {
		if n := c.Tokens; c.Token && n.Known {
			counts = append(counts, n.N)
		} else if c.Token {
			counts = append(counts, -1)
		}
	}
	return counts
}

// class is the class of the failure, "" for none.
func (r result) class() engines.Class {
	var failure *engines.Error
	if errors.As(r.err, &failure) {
		return failure.Class
	}
	if r.err != nil {
		return "not an *engines.Error"
	}
	return ""
}

func ms(times ...int) []time.Duration {
	var out []time.Duration
	for _, t := range times {
		out = append(out, time.Duration(t)*time.Millisecond)
	}
	return out
}

// data makes an event of each JSON text.
func data(texts ...string) string {
	var b strings.Builder
	for _, s := range texts {
		b.WriteString("data: " + s + "\n\n")
	}
	return b.String()
}

// completion is an event with text; chat one with a delta.
func completion(text string) string {
	return data(fmt.Sprintf(`{"model":"m","choices":[{"text":%q}]}`, text))
}

func chat(delta string) string { return data(`{"choices":[{"delta":` + delta + `}]}`) }

// ended are the events that end a stream well.
var ended = data(`{"choices":[{"text":"","delta":{},"finish_reason":"length"}]}`, `[DONE]`)

func requireClass(t *testing.T, want engines.Class, got result) *engines.Error {
	t.Helper()
	require.Equal(t, want, got.class(), "%v", got.err)
	var failure *engines.Error
	require.ErrorAs(t, got.err, &failure)
	assert.NotContains(t, failure.Message, "\n")
	return failure
}
