//go:build linux

package nullserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines/internal/nullserver"
)

// serving is a server that runs until the test ends, and its URL.
func serving(t testing.TB, o nullserver.Options) (*nullserver.Server, string) {
	t.Helper()
	s, err := nullserver.New(o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		assert.NoError(t, <-ended)
	})
	return s, "http://" + l.Addr().String()
}

// told is what one token event says.
type told struct {
	Choices []struct{ Text string }
	Usage   struct {
		Prompt     int `json:"prompt_tokens"`
		Total      int `json:"total_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Sent string
}

// stream reads one stream with net/http: its token events, the lengths of
// their lines, and whether it ended with [DONE].
func stream(t testing.TB, url, id string) (events []told, lengths []int, done bool) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header.Set("X-Request-Id", id)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if !assert.NoError(t, err) {
		return nil, nil, false
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var e told
		assert.NoError(t, json.Unmarshal([]byte(data), &e))
		if e.Usage.Completion > 0 {
			events, lengths = append(events, e), append(lengths, len(data))
		}
	}
	assert.NoError(t, lines.Err())
	return events, lengths, done
}

func TestAStream(t *testing.T) {
	s, url := serving(t, nullserver.Options{Events: 1200, Stamped: true, Logged: true})
	before := nullserver.Now()
	events, lengths, done := stream(t, url+"/v1/completions", "r1")
	after := nullserver.Now()
	require.Len(t, events, 1200)
	assert.True(t, done)
	last := before
	var sent []int64
	for i, e := range events {
		assert.Equal(t, i+1, e.Usage.Completion)
		assert.Equal(t, e.Usage.Prompt+i+1, e.Usage.Total)
		assert.NotEmpty(t, e.Choices[0].Text)
		assert.Equal(t, lengths[0], lengths[i], "all events are of one length")
		at, err := strconv.ParseInt(e.Sent, 10, 64)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, at, last)
		last = at
		sent = append(sent, at)
	}
	assert.InDelta(t, 260, lengths[0], 30)
	assert.LessOrEqual(t, last, after)
	assert.Equal(t, map[string][]int64{"r1": sent}, s.Log())
}

// Events are sent at their times and never before; streams are spread over the
// period or share it.
func TestTheTimesOfEvents(t *testing.T) {
	const period = int64(20 * time.Millisecond)
	for _, step := range []bool{false, true} {
		s, url := serving(t, nullserver.Options{Events: 10, Rate: 50, Step: step, Logged: true})
		begin := nullserver.Now()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				events, _, done := stream(t, url, fmt.Sprint(i))
				assert.Len(t, events, 10)
				assert.True(t, done)
			})
		}
		all.Wait()
		log, phases := s.Log(), map[int64]bool{}
		require.Len(t, log, 20)
		late := period
		for _, times := range log {
			due := times[0] // at most: lateness comes and goes
			for i, at := range times {
				assert.GreaterOrEqual(t, at, begin+int64(i+1)*period)
				due = min(due, at-int64(i)*period)
			}
			phases[due%period/(period/10)] = true
			late = min(late, due%period)
		}
		if step {
			assert.Less(t, late, period/10, "after the grid that all share")
		} else {
			assert.Greater(t, len(phases), 3, "tenths of the period in which streams begin")
		}
	}
}

func TestConnections(t *testing.T) {
	for _, closes := range []bool{false, true} {
		_, url := serving(t, nullserver.Options{Events: 1, Close: closes})
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		in := bufio.NewReader(conn)
		for range 2 {
			io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
			resp, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			assert.Equal(t, closes, resp.Close)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			if closes {
				_, err = in.ReadByte()
				assert.Equal(t, io.EOF, err)
				break
			}
		}
	}
	_, url := serving(t, nullserver.Options{Events: 1})
	resp, err := http.Get(url + "/v1/models")
	require.NoError(t, err)
	defer resp.Body.Close()
	models, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.JSONEq(t, `{"object":"list","data":[{"id":"null","object":"model"}]}`, string(models))
}

// A client that does not read holds up no other, and loses nothing.
func TestAClientThatDoesNotRead(t *testing.T) {
	const events = 100_000
	_, url := serving(t, nullserver.Options{Events: events})
	slow, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer slow.Close()
	io.WriteString(slow, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	got, _, done := stream(t, url, "other")
	assert.Len(t, got, events)
	assert.True(t, done)
	all, err := io.ReadAll(slow)
	require.NoError(t, err)
	assert.Equal(t, events, strings.Count(string(all), `"text":" token"`))
}

func TestNewRefusesWhatCannotBeServed(t *testing.T) {
	_, err := nullserver.New(nullserver.Options{Rate: -1, First: -time.Second})
	assert.EqualError(t, err, "nullserver: Options.Events must be positive, got 0\n"+
		"nullserver: Options.Rate must be from 0 to 1e6 events/s, got -1\n"+
		"nullserver: Options.First must not be negative, got -1s")
}
