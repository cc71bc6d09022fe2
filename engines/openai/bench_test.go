package openai

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// eventServer answers each request on a connection with n events, each a chunk
// and a write of its own, and calls pace before each of them.
func eventServer(c net.Conn, n int, pace func()) {
	defer c.Close()
	text := "data: " + usualEvent + "\n\n"
	event := []byte(fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
	end := []byte(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(ended), ended))
	for buf := make([]byte, 64<<10); ; {
		if _, err := c.Read(buf); err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range n {
			pace()
			c.Write(event)
		}
		c.Write(end)
	}
}

// ask streams one generation and returns the number of its token events.
func ask(t testing.TB, e *Engine, emit func()) int {
	tokens, start := 0, time.Now()
	r := &engines.Request{Text: "x", MaxTokens: 1, Stamp: func() time.Duration { return time.Since(start) }}
	if _, err := e.Generate(t.Context(), r, func(c engines.Chunk) {
		if c.Token {
			tokens++
			emit()
		}
	}); err != nil {
		t.Error(err)
	}
	return tokens
}

// BenchmarkEventMemory is the cost of one event in virtual time, over a
// net.Pipe, its server's part and the advance of the clock included; one
// operation is one event.
func BenchmarkEventMemory(b *testing.B) {
	for _, streams := range []int{1, 64} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			n := (b.N + streams - 1) / streams
			b.ReportAllocs()
			inBubble(b, func(t *testing.T) {
				m := newMemory()
				defer m.Close()
				go func() {
					for c, err := m.Accept(); err == nil; c, err = m.Accept() {
						go eventServer(c, n, func() { time.Sleep(5 * time.Millisecond) })
					}
				}()
				e := memoryClient(t, m, Config{})
				var wg sync.WaitGroup
				for range streams {
					wg.Go(func() {
						if got := ask(t, e, func() {}); got != n {
							b.Errorf("%d events, want %d", got, n)
						}
					})
				}
				wg.Wait()
			})
		})
	}
}

// inBubble runs f in a bubble, for which package testing wants a test.
func inBubble(b *testing.B, f func(t *testing.T)) {
	matches := func(string, string) (bool, error) { return true, nil }
	test := testing.InternalTest{Name: b.Name(), F: func(t *testing.T) { synctest.Test(t, f) }}
	if !testing.RunTests(matches, []testing.InternalTest{test}) {
		b.Fatal("the bubble failed")
	}
}

// BenchmarkEventLoopback is the cost of one event over TCP on this host, its
// server's write included. In steps, the server waits until the client has
// seen an event before it writes the next, so that each is a read of its own;
// at full speed one read brings many.
func BenchmarkEventLoopback(b *testing.B) {
	for _, steps := range []bool{true, false} {
		name := map[bool]string{true: "steps", false: "full-speed"}[steps]
		b.Run(name, func(b *testing.B) {
			seen := make(chan struct{}, 1)
			pace, emit := func() {}, func() {}
			if steps {
				pace, emit = func() { <-seen }, func() { seen <- struct{}{} }
				seen <- struct{}{}
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			go func() {
				for c, err := l.Accept(); err == nil; c, err = l.Accept() {
					go eventServer(c, b.N, pace)
				}
			}()
			e, err := New(Config{URL: "http://" + l.Addr().String()})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			b.ReportAllocs()
			b.ResetTimer()
			if got := ask(b, e, emit); got != b.N {
				b.Fatalf("%d events, want %d", got, b.N)
			}
		})
	}
}

// BenchmarkRequestMemory is the cost of a request beside its events: one
// operation is a generation of one token on a connection in memory.
func BenchmarkRequestMemory(b *testing.B) {
	b.ReportAllocs()
	inBubble(b, func(t *testing.T) {
		m := newMemory()
		defer m.Close()
		go func() {
			for c, err := m.Accept(); err == nil; c, err = m.Accept() {
				go eventServer(c, 1, func() { time.Sleep(5 * time.Millisecond) })
			}
		}()
		e := memoryClient(t, m, Config{})
		for range b.N {
			ask(t, e, func() {})
		}
	})
}

// BenchmarkPrepare is the work that Prepare takes out of the time between when a
// request is due and its first byte.
func BenchmarkPrepare(b *testing.B) {
	for _, n := range []int{16, 8000} {
		b.Run(fmt.Sprintf("prompt=%d", n), func(b *testing.B) {
			e, err := New(Config{URL: "http://nowhere", Model: "model"})
			if err != nil {
				b.Fatal(err)
			}
			r := &engines.Request{ID: "run-0000001", Tokens: make([]int32, n), MaxTokens: 64, IgnoreEOS: true}
			for i := range r.Tokens {
				r.Tokens[i] = int32(i*7919) % 100_000
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Prepare(r)
			}
			if r.Prepared == nil {
				b.Fatal("nothing was prepared")
			}
		})
	}
}
