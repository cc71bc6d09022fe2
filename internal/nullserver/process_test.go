package nullserver_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// child is the argument that makes this program a server.
const child = "be-the-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child {
		if err := nullserver.Child(os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What a process has seen comes with its end, what was cut included, and what
// was told before does not.
func TestAProcessTellsWhatItSaw(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p, err := nullserver.Start(t.Context(), nullserver.Options{Rate: 1000, Journal: true}, self, child)
	require.NoError(t, err)
	stream(t, p.URL, "before")
	journal, err := nullserver.Read(t.Context(), p.URL)
	require.NoError(t, err)
	require.Len(t, journal, 1)
	stream(t, p.URL, "after")
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /0.001/events HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut\r\n\r\n")
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 8)) // the head, so that the stream is on its way
	require.NoError(t, err)
	journal, err = p.Stop()
	require.NoError(t, err)
	require.Len(t, journal, 2)
	assert.Equal(t, []string{"after", "cut"}, []string{journal[0].ID, journal[1].ID})
	assert.Equal(t, []bool{true, false}, []bool{journal[0].Whole, journal[1].Whole})
	assert.Empty(t, journal[1].Sent)
	assert.Positive(t, p.CPU())
}

func TestAProcessThatIsKilled(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p, err := nullserver.Start(t.Context(), nullserver.Options{}, self, child)
	require.NoError(t, err)
	p.Kill()
	_, err = nullserver.Read(t.Context(), p.URL)
	assert.ErrorContains(t, err, "read the server's journal: ")
}

func TestAProcessThatIsNoServer(t *testing.T) {
	_, err := nullserver.Start(t.Context(), nullserver.Options{Rate: -1}, "true")
	assert.EqualError(t, err, "nullserver: Options.Rate must be from 0 to 1e6 events/s, got -1")
	_, err = nullserver.Start(t.Context(), nullserver.Options{}, "no-such-program-here")
	assert.ErrorContains(t, err, "start the null server: ")
}

// A child's process ends with its input.
func TestTheServerEndsWithItsInput(t *testing.T) {
	for options, want := range map[string]string{
		"":                "",
		`{"Rate":50}`:     "",
		`{"Rate":-50}`:    "nullserver: Options.Rate must be from 0 to 1e6 events/s, got -50",
		`{"Rate":"high"}`: "read the null server's options: json: cannot unmarshal string into Go struct field Options.Rate of type float64",
	} {
		var out bytes.Buffer
		err := nullserver.Child(strings.NewReader(options), &out)
		if want != "" {
			assert.EqualError(t, err, want)
			continue
		}
		assert.NoError(t, err)
		assert.Regexp(t, `^listening on http://127\.0\.0\.1:\d+\n`, out.String())
	}
}

// three is an engine that stamps three events with the request's clock.
type three struct{ at []time.Duration }

func (e three) Generate(_ context.Context, _ *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	for i, at := range e.at {
		emit(engines.Chunk{At: at, Token: i != 1})
	}
	return engines.Reply{}, nil
}

// What is watched has its times by the server's clock, and token events only.
func TestWatch(t *testing.T) {
	w := nullserver.Watch(three{[]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}})
	before := nullserver.Now()
	r := engines.Request{ID: "a", MaxTokens: 2, Stamp: func() time.Duration { return time.Minute }}
	emitted := 0
	_, err := w.Generate(t.Context(), &r, func(engines.Chunk) { emitted++ })
	require.NoError(t, err)
	assert.Equal(t, 3, emitted)
	seen, ok := w.Seen("a")
	require.True(t, ok)
	assert.GreaterOrEqual(t, seen.Origin, before-int64(time.Minute))
	assert.LessOrEqual(t, seen.Origin, nullserver.Now()-int64(time.Minute))
	assert.Equal(t, []int64{seen.Origin + 1e9, seen.Origin + 3e9}, seen.Events)
	_, ok = w.Seen("b")
	assert.False(t, ok)
	assert.NoError(t, w.Warm(t.Context(), 3), "an engine without connections")
}
