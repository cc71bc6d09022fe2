package nullserver_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// serving is the URL of a server that runs until the test ends.
func serving(t testing.TB, o nullserver.Options) string {
	t.Helper()
	s, err := nullserver.New(o)
	require.NoError(t, err)
	l, err := nullserver.Listen("127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		assert.NoError(t, <-ended)
	})
	return "http://" + l.Addr().String()
}

// A client that does not read holds up no other, and loses nothing.
func TestAClientThatDoesNotRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the senders of other systems wait for it, see the package")
	}
	const events = 40_000 // more bytes than the buffers of a connection hold
	for _, rate := range []float64{0, 1e6} {
		url := serving(t, nullserver.Options{Events: events, Rate: rate})
		slow, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		defer slow.Close()
		io.WriteString(slow, "GET /events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		got, done := stream(t, url, "other")
		assert.Len(t, got, events)
		assert.True(t, done)
		all, err := io.ReadAll(slow)
		require.NoError(t, err)
		assert.Equal(t, events, strings.Count(string(all), `"text":" token"`))
	}
}

func TestNewRefusesWhatCannotBeServed(t *testing.T) {
	_, err := nullserver.New(nullserver.Options{
		Events: -1, Rate: -1, First: -time.Second, Step: true, Spread: true, Senders: -2, Prompt: -3,
	})
	assert.EqualError(t, err, "nullserver: Options.Events must be from 0 to 1048576, got -1\n"+
		"nullserver: Options.Rate must be from 0 to 1e6 events/s, got -1\n"+
		"nullserver: Options.First must not be negative, got -1s\n"+
		"nullserver: Options.Spread must be false with Step, got true\n"+
		"nullserver: Options.Senders must not be negative, got -2\n"+
		"nullserver: Options.Prompt must not be negative, got -3")
}
