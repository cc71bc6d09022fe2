package openai

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// otherWay makes a run of the tests take the other transport everywhere:
// connections in memory are served by the direct transport and TCP by net/http,
// where it is usually the reverse.
const otherWay = "OPENLOOP_TEST_OTHER_TRANSPORT"

func TestMain(m *testing.M) {
	if os.Getenv(otherWay) != "" {
		direct = func(e *Engine) *pool {
			if e.cfg.Dial == nil || e.cfg.Proxy != nil || e.cfg.HTTP2 || e.route.Scheme != "http" {
				return nil
			}
			return pumped(e)
		}
	}
	code := m.Run()
	if os.Getenv(otherWay) != "" {
		// The run that starts this one looks for it.
		fmt.Printf("connections in memory by the direct transport: %d\n", pumps.Load())
	}
	os.Exit(code)
}

// TestBothTransportsPassAllTests runs all tests of this package once more,
// with the transports exchanged.
func TestBothTransportsPassAllTests(t *testing.T) {
	if os.Getenv(otherWay) != "" {
		t.Skip("this is that run")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.count=1", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), otherWay+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	said := regexp.MustCompile(`by the direct transport: [1-9]\d\d`)
	require.Regexp(t, said, string(out), "hundreds of connections at least")
}

// pumped is the direct transport over any connection: a goroutine reads for
// each, and the clock may be virtual.
func pumped(e *Engine) *pool {
	p := &pool{habit: habit{seen: make(chan struct{})}}
	p.dial = func(ctx context.Context) (*wire, error) {
		conn, slow, err := e.transport.open(ctx, "tcp", e.transport.address)
		if err != nil {
			return nil, err
		}
		m := &pump{conn: conn, sent: make(chan struct{})}
		close(m.sent)
		m.wire = &wire{pool: p, carrier: m, slow: slow, stay: stay{habit: &p.habit}}
		pumps.Add(1)
		go m.run()
		return m.wire, nil
	}
	return p
}

var pumps atomic.Int64

// pump is the carrier of a wire over a net.Conn.
type pump struct {
	wire *wire
	conn net.Conn
	// sent is closed when the request has been; the wire's mu guards it.
	sent chan struct{}
}

func (p *pump) send(b []byte) {
	sent := make(chan struct{})
	p.sent = sent
	go func() {
		if _, err := p.conn.Write(b); err == nil {
			close(sent)
		}
	}()
}

func (p *pump) unsent() bool {
	select {
	case <-p.sent:
		return false
	default:
		return true
	}
}

// told waits until the writer knows that the other side has read all, if it has:
// an answer overtakes that. (No time passes in a bubble for it.)
func (p *pump) told() {
	p.wire.mu.Lock()
	sent := p.sent
	p.wire.mu.Unlock()
	select {
	case <-sent:
	case <-time.After(time.Millisecond):
	}
}

func (p *pump) cut() { p.conn.Close() }

func (p *pump) spent() bool { return false }

func (p *pump) run() {
	defer p.conn.Close()
	for buf := make([]byte, 8<<10); ; {
		n, err := p.conn.Read(buf)
		at := elapsed()
		p.told()
		if n > 0 && !p.wire.took(buf[:n], arrival{at: at}) {
			return
		}
		if err == io.EOF {
			err = nil
		} else if err == nil {
			continue
		}
		p.wire.lost(err)
		return
	}
}
