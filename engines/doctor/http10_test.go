package doctor_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
)

// A server of HTTP/1.0 has no way to keep a connection.
func TestHTTP10(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind := serve(t, sim.Config{DevMode: true})
		report := examine(t, sim.Config{}, func(c *doctor.Config) {
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := behind(ctx, network, addr)
				return &old{Conn: conn, r: bufio.NewReader(conn)}, err
			}
		})
		if got, want := wrong(report), []string{"warn http", "warn keep-alive"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// old turns the first reply of a connection into one of HTTP/1.0, whose body
// ends with the connection.
type old struct {
	net.Conn
	r    *bufio.Reader
	head []byte
	body io.Reader
}

func (o *old) Read(p []byte) (int, error) {
	if o.body == nil {
		resp, err := http.ReadResponse(o.r, nil)
		if err != nil {
			return 0, err
		}
		o.head = fmt.Appendf(nil, "HTTP/1.0 %s\r\nContent-Type: %s\r\nDate: %s\r\n\r\n", resp.Status, resp.Header.Get("Content-Type"), resp.Header.Get("Date"))
		o.body = resp.Body
	}
	if len(o.head) > 0 {
		n := copy(p, o.head)
		o.head = o.head[n:]
		return n, nil
	}
	n, err := o.body.Read(p)
	if err == io.EOF {
		_ = o.Conn.Close()
	}
	return n, err
}
