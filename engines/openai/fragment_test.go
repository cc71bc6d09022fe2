package openai

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// drain reads a connection for ever, so that the other side can write.
func drain(c net.Conn) { go io.Copy(io.Discard, c) }

// chunked is a reply in chunks, one for each text.
func chunked(texts ...string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	for _, s := range texts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(s), s)
	}
	b.WriteString("0\r\n\r\n")
	return b.String()
}

// However the bytes of a reply, HTTP's framing included, are cut and delayed,
// every event has the time at which its last byte became readable.
func TestEventsHaveTheTimeOfTheirLastByte(t *testing.T) {
	const events = 12
	var texts []string
	for i := range events {
		texts = append(texts, running(strings.Repeat("ab", i%4+1), i+1))
	}
	reply := chunked(append(texts, usage(events), ended)...)
	ends := make([]int, events)
	for i, text := range texts {
		ends[i] = strings.Index(reply, text) + len(text)
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var cuts []int
		for at := 0; at < len(reply); {
			at = min(at+1+r.IntN(1+int(seed)*3), len(reply))
			cuts = append(cuts, at)
		}
		serve := func(c net.Conn) {
			drain(c)
			time.Sleep(time.Millisecond) // the request is read
			from := 0
			for _, to := range cuts {
				time.Sleep(time.Millisecond)
				io.WriteString(c, reply[from:to])
				from = to
			}
		}
		var want []time.Duration
		piece := 0
		for _, end := range ends {
			for cuts[piece] < end {
				piece++
			}
			want = append(want, time.Duration(piece+2)*time.Millisecond)
		}
		rawMemory(t, serve, Config{}, func(t *testing.T, e *Engine) {
			got := generate(t, e)
			require.NoError(t, got.err, "seed %d", seed)
			require.Equal(t, want, got.tokenTimes(), "seed %d, cuts %v", seed, cuts)
			assert.Equal(t, engines.Known(events), got.reply.OutputTokens)
		})
	}
}

// A body without chunks ends with its connection.
func TestABodyThatEndsWithItsConnection(t *testing.T) {
	serve := func(c net.Conn) {
		drain(c)
		time.Sleep(time.Millisecond)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+completion("a")+"data: {\"choi")
		time.Sleep(5 * time.Millisecond)
		io.WriteString(c, "ces\":[{\"text\":\"b\"}]}\n\n"+ended)
		c.Close()
	}
	rawMemory(t, serve, Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		assert.Equal(t, ms(1, 6), got.tokenTimes())
		assert.Empty(t, got.reply.Warnings)
	})
}

// Sent is when the first byte leaves, not when the body has: a server that
// reads slowly does not move it.
func TestSentIsTheFirstByte(t *testing.T) {
	serve := func(c net.Conn) {
		time.Sleep(time.Millisecond)
		buf := make([]byte, 1<<10)
		for n := 0; n < 100_000; {
			time.Sleep(time.Millisecond)
			m, _ := c.Read(buf)
			n += m
		}
		drain(c)
		time.Sleep(time.Second)
		io.WriteString(c, chunked(completion("a"), ended))
	}
	rawMemory(t, serve, Config{}, func(t *testing.T, e *Engine) {
		got := generate(t, e, func(r *engines.Request) { r.Text = strings.Repeat("x", 110_000) })
		require.NoError(t, got.err)
		assert.Zero(t, got.reply.Sent)
		assert.Greater(t, got.reply.FirstEvent, 1050*time.Millisecond)
	})
}
