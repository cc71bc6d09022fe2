//go:build linux

package nullserver_test

import (
	"io"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines/internal/nullserver"
)

// A server that ends in the middle of its streams writes to nothing that has
// been opened since.
func TestAServerThatEndsWritesNowhereElse(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		s, err := nullserver.New(nullserver.Options{Events: 1 << 30, Rate: 20_000})
		require.NoError(t, err)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		ended := make(chan error)
		go func() { ended <- s.Serve(l) }()
		read := make(chan struct{})
		const clients = 20
		for range clients {
			c, err := net.Dial("tcp", l.Addr().String())
			require.NoError(t, err)
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			go func() {
				defer func() { read <- struct{}{} }()
				io.ReadFull(c, make([]byte, 4<<10)) // it is under way
				read <- struct{}{}
				io.Copy(io.Discard, c)
				c.Close()
			}()
		}
		for range clients {
			<-read
		}
		l.Close()
		var files []*os.File
		for over := false; !over || len(files) < clients; {
			f, err := os.CreateTemp(dir, "")
			require.NoError(t, err)
			files = append(files, f)
			select {
			case err := <-ended:
				assert.NoError(t, err)
				over = true
			default:
			}
		}
		for range clients {
			<-read
		}
		for _, f := range files {
			info, err := f.Stat()
			require.NoError(t, err)
			assert.Zero(t, info.Size(), "bytes of a stream in a file")
			f.Close()
		}
	}
}
