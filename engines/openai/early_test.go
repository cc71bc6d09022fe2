package openai

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// answering is a carrier whose server answers as soon as something is sent.
type answering struct {
	wire   *wire
	answer string
	// whole: the send that brings the answer about is one of all.
	whole bool
	// left: not all has been sent.
	left bool
	// goes is what took said.
	goes chan bool
}

func (a *answering) send([]byte) {
	a.left = true
	done := a.wire.call.Load().done
	go func() { a.goes <- a.wire.took([]byte(a.answer), arrival{at: elapsed()}) }()
	select {
	case <-done: // whoever takes the answer for an early one does so now
	case <-time.After(20 * time.Millisecond):
	}
	a.left = !a.whole
}

func (a *answering) cut() {}

func (a *answering) spent() bool { return false }

func (a *answering) unsent() bool { return a.left }

// still is a carrier that does nothing.
type still struct{ carrier }

func (still) send([]byte)  {}
func (still) cut()         {}
func (still) spent() bool  { return false }
func (still) unsent() bool { return false }

// A connection that is broken from here as its answer becomes whole shows no habit
// of the server's, and is not used again.
func TestAConnectionThatIsGivenUpAsItsAnswerEnds(t *testing.T) {
	for what, givenUp := range map[string]bool{"given up": true, "closed by the server": false} {
		t.Run(what, func(t *testing.T) {
			e, err := New(Config{URL: "http://host"})
			require.NoError(t, err)
			p := &pool{habit: habit{seen: make(chan struct{})}}
			defer p.closeIdle()
			p.habit.asked.Store(true)
			w := &wire{pool: p, carrier: still{}, stay: stay{habit: &p.habit}}
			c := newCall(e, nil)
			c.begin(t.Context(), func(engines.Chunk) {}, nil)
			require.NoError(t, w.begin(c, []byte("POST")))
			if givenUp {
				w.abort(c)
			}
			assert.True(t, w.took([]byte("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}"), arrival{at: elapsed()}))
			w.kept(t.Context())
			w.lost(io.EOF)
			assert.Equal(t, !givenUp, p.habit.closes.Load())
			assert.Nil(t, p.kept())
		})
	}
}

// A connection is used again if all of its request was sent, however soon the
// answer came, and only then.
func TestAConnectionWhoseAnswerCameEarly(t *testing.T) {
	const ok = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}"
	for what, whole := range map[string]bool{
		"before its send had returned": true,
		"before all was sent":          false,
	} {
		t.Run(what, func(t *testing.T) {
			e, err := New(Config{URL: "http://host"})
			require.NoError(t, err)
			p := &pool{habit: habit{seen: make(chan struct{})}}
			a := &answering{answer: ok, whole: whole, goes: make(chan bool)}
			a.wire = &wire{pool: p, carrier: a, stay: stay{habit: &p.habit}}
			c := newCall(e, nil)
			c.begin(t.Context(), func(engines.Chunk) {}, nil)
			require.NoError(t, a.wire.begin(c, []byte("POST")))
			assert.Equal(t, whole, <-a.goes)
			<-c.done
			requireClass(t, engines.Refused, result{err: c.result(t.Context(), nil)})
			assert.Equal(t, whole, c.attempt.keep)
			if whole {
				assert.Same(t, a.wire, p.kept())
			} else {
				assert.Zero(t, p.len())
				assert.Equal(t, io.EOF, a.wire.begin(newCall(e, nil), nil))
			}
			p.closeIdle()
		})
	}
}
