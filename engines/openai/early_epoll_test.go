//go:build linux && (amd64 || arm64)

package openai

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A server that refuses a long request before it has read it, and keeps the
// connection, does not get the next request for the rest of this one.
func TestARefusalBeforeTheRequestWasRead(t *testing.T) {
	for what, direct := range map[string]bool{"direct": true, "net/http": false} {
		t.Run(what, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			asked, rest := make(chan struct{}), make(chan error, 1)
			go func() {
				for c, err := l.Accept(); err == nil; c, err = l.Accept() {
					go func() {
						defer c.Close()
						for from := bufio.NewReader(c); ; {
							r, err := http.ReadRequest(from)
							if err != nil {
								return
							}
							if r.ContentLength < 1<<20 {
								io.Copy(io.Discard, r.Body)
								fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", closeDelimited, len(completion("a")+ended), completion("a")+ended)
								continue
							}
							io.WriteString(c, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}")
							<-asked
							_, err = io.Copy(io.Discard, r.Body)
							rest <- err
							return
						}
					}()
				}
			}()
			e, err := New(Config{URL: "http://" + l.Addr().String(), Silence: 5 * time.Second})
			require.NoError(t, err)
			defer e.Close()
			e.direct = nil
			if direct {
				e.direct = directOver(e, 1)
			}
			require.NoError(t, generate(t, e).err)
			requireClass(t, engines.Refused, generate(t, e, func(r *engines.Request) { r.Text = strings.Repeat("x", 16<<20) }))
			got := generate(t, e)
			require.NoError(t, got.err)
			assert.True(t, got.reply.NewConnection)
			close(asked)
			assert.Error(t, <-rest, "the connection ended in the middle of the request")
			assert.False(t, generate(t, e).reply.NewConnection)
		})
	}
}
