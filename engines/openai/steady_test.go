package openai

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// streamingCall is a call in the middle of its stream.
func streamingCall(t testing.TB, emit func(engines.Chunk)) *call {
	t.Helper()
	e, err := New(Config{URL: "http://engine"})
	require.NoError(t, err)
	c := newCall(e, elapsed)
	c.begin(t.Context(), emit, func(error) {})
	_, over := c.take([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"), arrival{at: elapsed()})
	require.False(t, over)
	return c
}

// An event costs no allocation once its stream is under way, whole or in
// parts.
func TestAnEventAllocatesNothing(t *testing.T) {
	text := "data: " + usualEvent + "\n\n"
	event := []byte(fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
	tokens := 0
	c := streamingCall(t, func(c engines.Chunk) { tokens += c.Tokens.N })
	for what, parts := range map[string][][]byte{
		"one read":           {event},
		"two events a read":  {append(append([]byte(nil), event...), event...)},
		"cut in the data":    {event[:100], event[100:]},
		"cut in the length":  {event[:1], event[1:]},
		"cut before the end": {event[:len(event)-3], event[len(event)-3:]},
		"a byte at a time":   singly(event),
	} {
		for _, b := range parts { // buffers grow once
			c.take(b, arrival{at: elapsed()})
		}
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			for _, b := range parts {
				if _, over := c.take(b, arrival{at: elapsed(), lag: time.Microsecond}); over {
					t.Error("the call is over")
				}
			}
		}), what)
	}
	assert.Equal(t, 102*7, c.stream.tokenEvents)
	assert.Equal(t, time.Microsecond, c.attempt.reply.ReadLag)
}

func singly(b []byte) [][]byte {
	var all [][]byte
	for i := range b {
		all = append(all, b[i:i+1])
	}
	return all
}

// BenchmarkEvent is what an event costs beside the system calls; one operation
// is one event.
func BenchmarkEvent(b *testing.B) {
	text := "data: " + usualEvent + "\n\n"
	event := []byte(fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
	c := streamingCall(b, func(engines.Chunk) {})
	b.ReportAllocs()
	at := elapsed()
	for b.Loop() {
		c.take(event, arrival{at: at})
	}
}
