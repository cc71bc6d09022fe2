package openai

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// The ways in which a server is not reached, each with what to do.
func TestServersThatAreNotReached(t *testing.T) {
	noProxy(t)
	dial := func(err error) *net.OpError { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	six := dial(os.NewSyscallError("connect", syscallEADDRNOTAVAIL))
	six.Addr = &net.TCPAddr{IP: net.IPv6loopback, Port: 8000}
	for _, tt := range []struct {
		what  string
		err   error
		class engines.Class
		want  string
	}{
		{"no such name", dial(&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}), engines.Unreachable,
			`host "host" not found: correct the URL`},
		{"a name server that hangs", dial(&net.DNSError{Err: "i/o timeout", Name: "host", IsTimeout: true}), engines.Unreachable,
			`host "host" could not be looked up in time: correct this host's name server, or use an address in the URL`},
		{"a name server that fails", dial(&net.DNSError{Err: "server misbehaving", Name: "host"}), engines.Unreachable,
			`host "host" could not be looked up: server misbehaving: correct this host's name server, or use an address in the URL`},
		{"nobody listens", dial(os.NewSyscallError("connect", syscallECONNREFUSED)), engines.Unreachable,
			"connection refused: start the server or correct the URL"},
		{"no way", dial(os.NewSyscallError("connect", syscallEHOSTUNREACH)), engines.Unreachable,
			"dial tcp: connect: " + syscallEHOSTUNREACH.Error() + ": correct the URL, or this host's network"},
		{"nothing comes back", dial(os.ErrDeadlineExceeded), engines.Unreachable,
			"dial tcp: i/o timeout: nothing answers at this address: correct the URL, or have the firewall let it pass"},
		{"no IPv6", six, engines.Client,
			"dial tcp [::1]:8000: connect: " + syscallEADDRNOTAVAIL.Error() + ": this host has no port left, or no IPv6: use an IPv4 address in the URL"},
	} {
		e, err := New(Config{URL: "http://engine", Dial: failing(tt.err)})
		require.NoError(t, err)
		failure := requireClass(t, tt.class, generate(t, e))
		assert.Equal(t, "http://engine: POST /v1/completions: "+tt.want, failure.Message, tt.what)
	}
}

// A server that takes connections and closes them, at whichever moment, is
// blamed for it.
func TestServersThatHangUp(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		what, sends string
		class       engines.Class
		want        string
	}{
		{"before its answer", "", engines.Reset,
			": the server closed the connection without an answer: look into its log"},
		{"in the head of its answer", "HTTP/1.1 200 OK\r\nServer: x\r\n", engines.Reset,
			": the server closed the connection without an answer: look into its log"},
		{"after the head", head, engines.Reset,
			", before the first event: the server closed the connection before its answer had ended: look into its log"},
		{"with a TLS alert", "\x15\x03\x01\x00\x02\x02\x46", engines.Protocol, ": the server speaks TLS: use https:// in the URL"},
		{"with a TLS alert that has a line's end in it", "\x15\x03\x03\x00\x02\x02\x0a", engines.Protocol, ": the server speaks TLS: use https:// in the URL"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			serve := func(c net.Conn) {
				drain(c)
				time.Sleep(time.Millisecond)
				io.WriteString(c, tt.sends)
				c.Close()
			}
			rawMemory(t, serve, Config{}, func(t *testing.T, e *Engine) {
				failure := requireClass(t, tt.class, generate(t, e))
				assert.Equal(t, "http://engine: POST /v1/completions"+tt.want, failure.Message)
			})
		})
	}
	t.Run("after it has answered others", func(t *testing.T) {
		served := 0
		serve := func(c net.Conn) {
			served++
			drain(c)
			time.Sleep(time.Millisecond)
			if served == 1 {
				io.WriteString(c, chunked(completion("a"), ended))
			}
			c.Close()
		}
		rawMemory(t, serve, Config{Fresh: true}, func(t *testing.T, e *Engine) {
			require.NoError(t, generate(t, e).err)
			failure := requireClass(t, engines.Reset, generate(t, e))
			assert.Equal(t, "http://engine: POST /v1/completions: the server closed the connection without an answer: look into its log", failure.Message)
		})
	})
}

// One that was opened ahead of its request has been closed out of idleness only
// if it was idle: else the server closes what it does not like.
func TestConnectionsOpenedAheadThatTheServerCloses(t *testing.T) {
	for _, tt := range []struct {
		what string
		idle time.Duration
		want engines.Class
	}{{"at once", 0, engines.Reset}, {"after a while", soon, engines.Stale}} {
		t.Run(tt.what, func(t *testing.T) {
			rawMemory(t, func(c net.Conn) { c.Read(make([]byte, 64<<10)); c.Close() }, Config{}, func(t *testing.T, e *Engine) {
				require.NoError(t, e.Warm(t.Context(), 1))
				time.Sleep(tt.idle)
				requireClass(t, tt.want, generate(t, e))
			})
		})
	}
}
