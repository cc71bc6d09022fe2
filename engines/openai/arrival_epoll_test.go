//go:build linux && (amd64 || arm64)

package openai

import (
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// needStamps skips a test on a kernel that does not stamp what a plain socket
// receives: its stamps are those of reading.
func needStamps(t *testing.T) {
	t.Helper()
	keepStamping()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	from, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer from.Close()
	to, err := l.Accept()
	require.NoError(t, err)
	defer to.Close()
	raw, err := to.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	}))
	for range 50 { // the kernel begins some time after it was asked to
		io.WriteString(from, "x")
		written := time.Now()
		time.Sleep(10 * time.Millisecond)
		control, n := make([]byte, 128), 0
		require.NoError(t, raw.Read(func(fd uintptr) bool {
			_, n, _, _, err = syscall.Recvmsg(int(fd), make([]byte, 8), control, 0)
			return err != syscall.EAGAIN
		}))
		require.NoError(t, err)
		messages, err := syscall.ParseSocketControlMessage(control[:n])
		require.NoError(t, err)
		for _, m := range messages {
			if m.Header.Type != syscall.SO_TIMESTAMPNS {
				continue
			}
			ts := (*syscall.Timespec)(unsafe.Pointer(&m.Data[0]))
			if time.Unix(ts.Unix()).Before(written.Add(5 * time.Millisecond)) {
				return
			}
		}
	}
	t.Skip("this kernel does not stamp what it receives")
}

// during is what becomes of the generation "late" while the emit of another
// keeps the loop: from the time that its server may begin to write until that
// says that it is over. The times are on the clock of late's chunks.
type during struct {
	chunks []engines.Chunk
	lag    time.Duration
	freed  time.Duration // when the other's emit returned
}

func whileEmitIsBusy(t *testing.T, write func(send func(events string) (written time.Duration), free func())) during {
	t.Helper()
	asked, over, freed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	seen := make(chan struct{}) // late has a token: what is sent before is read with it
	start := time.Now()
	e := directClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(events string) time.Duration {
			io.WriteString(w, events)
			http.NewResponseController(w).Flush()
			return time.Since(start)
		}
		if r.Header.Get("X-Request-Id") == "late" {
			<-asked
			write(send, func() { close(over) })
			select {
			case <-seen:
			case <-r.Context().Done():
			}
		} else {
			send(running("a", 1))
		}
		<-freed
		io.WriteString(w, ended)
	}), 1)
	var d during
	var busy sync.WaitGroup
	busy.Go(func() {
		_, err := e.Generate(t.Context(), &engines.Request{ID: "busy", Text: "x", MaxTokens: 5}, func(c engines.Chunk) {
			if c.Tokens.Known && c.Tokens.N == 1 {
				close(asked)
				<-over
				d.freed = time.Since(start)
				close(freed)
			}
		})
		assert.NoError(t, err)
	})
	reply, err := e.Generate(t.Context(), &engines.Request{
		ID: "late", Text: "x", MaxTokens: 5, Stamp: func() time.Duration { return time.Since(start) },
	}, func(c engines.Chunk) {
		if c.Token {
			if d.chunks = append(d.chunks, c); len(d.chunks) == 1 {
				close(seen)
			}
		}
	})
	assert.NoError(t, err)
	busy.Wait()
	d.lag = reply.ReadLag
	return d
}

// An event's time is when the kernel had it, whatever the client was busy with,
// and how long it then lay there is known.
func TestTimesAreThoseOfArrival(t *testing.T) {
	needStamps(t)
	var written time.Duration
	d := whileEmitIsBusy(t, func(send func(string) time.Duration, free func()) {
		written = send(running("a", 1))
		time.Sleep(50 * time.Millisecond)
		free()
	})
	require.Len(t, d.chunks, 1)
	assert.Less(t, d.chunks[0].At, d.freed-25*time.Millisecond, "long before emit returned")
	assert.GreaterOrEqual(t, d.lag, d.freed-written-stampError)
}

// stampError is how far the wall clock, which stamps, may run from the
// monotonic one meanwhile.
const stampError = time.Millisecond

// Events that one read brings share the time of the last, but that the first
// lay there for longer is known, and what the gap between them may be.
func TestTheLagOfEventsThatAreReadTogether(t *testing.T) {
	needStamps(t)
	for what, tt := range map[string]struct {
		first, second string
		events        int
	}{
		"two events":              {running("a", 1), running("b", 2), 2},
		"the second in two parts": {running("a", 1) + "data: {", `"choices":[{"text":"b"}]}` + "\n\n", 2},
		"one and a part of more":  {running("a", 1), ": ", 1},
	} {
		var written time.Duration
		d := whileEmitIsBusy(t, func(send func(string) time.Duration, free func()) {
			written = send(tt.first)
			time.Sleep(30 * time.Millisecond)
			send(tt.second)
			free()
		})
		if assert.Len(t, d.chunks, tt.events, what); len(d.chunks) == 2 {
			assert.Zero(t, d.chunks[0].Lost, what)
			assert.GreaterOrEqual(t, d.chunks[1].Lost, 30*time.Millisecond-stampError, what)
			assert.LessOrEqual(t, d.chunks[1].Lost, d.lag, what)
		}
		assert.GreaterOrEqual(t, d.lag, d.freed-written, what)
		assert.Less(t, d.lag, d.freed, "%s: not for longer than the loop was busy", what)
	}
}

// An event that waits for others of its batch to be served lies there too.
func TestTheLagWithinABatch(t *testing.T) {
	needStamps(t)
	asked, wrote, freed := make(chan struct{}), make(chan time.Time, 2), make(chan struct{})
	e := directClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		late := r.Header.Get("X-Request-Id") != "busy"
		if late {
			<-asked
		}
		io.WriteString(w, running("a", 1))
		http.NewResponseController(w).Flush()
		if late {
			wrote <- time.Now()
		}
		<-freed
		io.WriteString(w, ended)
	}), 1)
	var all sync.WaitGroup
	var written, until time.Time
	var lags [3]time.Duration
	first := -1 // of the two that came meanwhile; the emits are all on one goroutine
	for i, id := range []string{"busy", "1", "2"} {
		all.Go(func() {
			reply, err := e.Generate(t.Context(), &engines.Request{ID: id, Text: "x", MaxTokens: 5}, func(c engines.Chunk) {
				switch {
				case !c.Tokens.Known || c.Tokens.N != 1:
				case id == "busy":
					close(asked)
					<-wrote
					written = <-wrote
				case first < 0:
					first = i
					time.Sleep(30 * time.Millisecond)
					until = time.Now()
					close(freed)
				}
			})
			assert.NoError(t, err)
			lags[i] = reply.ReadLag
		})
	}
	all.Wait()
	assert.GreaterOrEqual(t, lags[3-first], until.Sub(written)-stampError)
}
