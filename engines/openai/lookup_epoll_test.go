//go:build linux && (amd64 || arm64)

package openai

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nameServer is the address of one that takes a while to say of every name that
// it is 127.0.0.1.
func nameServer(t *testing.T, takes time.Duration) string {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			b := make([]byte, 512)
			n, from, err := l.ReadFrom(b)
			if err != nil {
				return
			}
			time.AfterFunc(takes, func() {
				end := 12 // of the question: its name, then four bytes
				for b[end] != 0 {
					end += int(b[end]) + 1
				}
				end += 5
				a := append([]byte(nil), b[:min(end, n)]...)
				binary.BigEndian.PutUint16(a[2:], 0x8180) // an answer without an error
				copy(a[6:12], make([]byte, 6))
				if kind := binary.BigEndian.Uint16(a[end-4:]); kind == 1 { // an IPv4 address is asked for
					a[7] = 1
					a = append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
				}
				l.WriteTo(a, from)
			})
		}
	}()
	return l.LocalAddr().String()
}

// With the resolver of package net.
func TestASlowNameServerIsTold(t *testing.T) {
	names := nameServer(t, 20*time.Millisecond)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", names)
	}}
	server := httptest.NewServer(streaming)
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	for host, want := range map[string][]string{
		"127.0.0.1":      nil,
		"engine.example": {`the look-up of host "engine.example" took 1ms or longer, which is in TTFT: use an address in the URL, or let connections be kept`},
	} {
		for what, direct := range map[string]bool{"direct": true, "net/http": false} {
			e, err := New(Config{URL: fmt.Sprintf("http://%s:%s", host, port), Fresh: true})
			require.NoError(t, err)
			e.transport.dial = (&net.Dialer{Resolver: resolver}).DialContext
			e.direct = nil
			if direct {
				e.direct = directOver(e, 1)
			}
			for range 2 {
				got := generate(t, e)
				require.NoError(t, got.err)
				assert.Equal(t, want, got.reply.Warnings, "%s by %s", host, what)
			}
			e.Close()
		}
	}
}
