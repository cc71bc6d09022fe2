package nullserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// told is what one event says.
type told struct {
	Choices []struct {
		Text         string
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Total      int `json:"total_tokens"`
		Completion int `json:"completion_tokens"`
	}
}

// post is a stream read with net/http: its token events, the lengths of their
// lines, what came after them but [DONE], and whether that came.
func post(t testing.TB, url, id, body string) (events []told, lengths []int, after []told, done bool) {
	req, err := http.NewRequest(http.MethodPost, url+"/v1/completions", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Request-Id", id)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if !assert.NoError(t, err) {
		return nil, nil, nil, false
	}
	defer resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
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
		if len(e.Choices) == 0 {
			after = append(after, e)
			continue
		}
		events, lengths = append(events, e), append(lengths, len(data))
	}
	assert.NoError(t, lines.Err())
	return events, lengths, after, done
}

// stream is post of a stream of which the server says how long it is.
func stream(t testing.TB, url, id string) (events []told, done bool) {
	events, _, _, done = post(t, url, id, `{"stream":true}`)
	return events, done
}

func TestAStream(t *testing.T) {
	url := serving(t, nullserver.Options{Rate: 1e5, Usage: true, Journal: true})
	before := nullserver.Now()
	events, lengths, after, done := post(t, url, "r1",
		`{"prompt":[5, 6, 7],"max_tokens":1200,"stream":true,"stream_options":{"include_usage":true}}`)
	until := nullserver.Now()
	require.Len(t, events, 1200)
	assert.True(t, done)
	require.Len(t, after, 1)
	assert.Equal(t, []int{3, 1200, 1203}, []int{after[0].Usage.Prompt, after[0].Usage.Completion, after[0].Usage.Total})
	for i, e := range events {
		require.NotNil(t, e.Usage)
		assert.Equal(t, i+1, e.Usage.Completion)
		assert.Equal(t, 3+i+1, e.Usage.Total)
		assert.Equal(t, " token", e.Choices[0].Text)
		assert.Equal(t, i == 1199, e.Choices[0].FinishReason != nil, "the last one has the finish reason")
		if i < 1199 {
			assert.Equal(t, lengths[0], lengths[i], "all others are of one length")
		}
	}
	assert.Equal(t, 268, lengths[0])
	journal, err := nullserver.Read(t.Context(), url)
	require.NoError(t, err)
	require.Len(t, journal, 1)
	r := journal[0]
	assert.Equal(t, nullserver.Request{ID: "r1", Asked: 1200, Stream: true, Fresh: true, Arrival: r.Arrival, Sent: r.Sent, Whole: true}, r)
	assert.GreaterOrEqual(t, r.Arrival, before)
	require.Len(t, r.Sent, 1200)
	last := r.Arrival
	for _, at := range r.Sent {
		assert.LessOrEqual(t, last, at)
		last = at
	}
	assert.LessOrEqual(t, last, until)
	journal, err = nullserver.Read(t.Context(), url)
	require.NoError(t, err)
	assert.Empty(t, journal, "told once")
}

func TestWhatRequestsAskFor(t *testing.T) {
	for _, c := range []struct {
		what    string
		options nullserver.Options
		path    string
		body    string
		// events and writes are their numbers, running those with usage.
		events, running, after, prompt int
		times                          int
	}{
		{"tokens", nullserver.Options{Rate: 1e4}, "", `{"stream":true, "max_tokens": 7}`, 7, 0, 0, 0, 7},
		{"completion tokens", nullserver.Options{Rate: 1e4}, "", `{"stream":true,"max_completion_tokens":5}`, 5, 0, 0, 0, 5},
		{"nothing", nullserver.Options{Rate: 1e4}, "", `{"stream":true}`, 1, 0, 0, 0, 1},
		{"other than the options", nullserver.Options{Rate: 1e4, Events: 3}, "", `{"stream":true,"max_tokens":9}`, 3, 0, 0, 0, 3},
		{"running usage", nullserver.Options{Rate: 1e4}, "", `{"stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}, "max_tokens":4, "prompt":"x"}`, 4, 4, 1, 16, 4},
		{"usage, of a prompt that is said", nullserver.Options{Rate: 1e4, Prompt: 99}, "", `{"stream":true,"stream_options":{"include_usage":true},"prompt":[1,2]}`, 1, 0, 1, 99, 1},
		{"a rate", nullserver.Options{}, "/5000", `{"stream":true,"max_tokens":4}`, 4, 0, 0, 0, 4},
		{"all at once", nullserver.Options{Rate: 1}, "/0", `{"stream":true,"max_tokens":300}`, 300, 0, 0, 0, 1},
		{"all at once, later", nullserver.Options{Rate: 1, First: time.Millisecond}, "/0", `{"stream":true,"max_tokens":30}`, 30, 0, 0, 0, 1},
		{"two threads", nullserver.Options{Rate: 1e4, Senders: 2}, "", `{"stream":true,"max_tokens":8}`, 8, 0, 0, 0, 8},
	} {
		c.options.Journal = true
		url := serving(t, c.options)
		events, _, after, done := post(t, url+c.path, "a", c.body)
		assert.True(t, done, c.what)
		assert.Len(t, events, c.events, c.what)
		running := 0
		for _, e := range events {
			if e.Usage != nil {
				running++
			}
		}
		assert.Equal(t, c.running, running, c.what)
		if assert.Len(t, after, c.after, c.what) && c.after > 0 {
			assert.Equal(t, []int{c.prompt, c.events}, []int{after[0].Usage.Prompt, after[0].Usage.Completion}, c.what)
		}
		journal, err := nullserver.Read(t.Context(), url)
		require.NoError(t, err)
		require.Len(t, journal, 1)
		times := map[int64]bool{}
		for _, at := range journal[0].Sent {
			times[at] = true
		}
		assert.Len(t, journal[0].Sent, c.events, c.what)
		assert.Len(t, times, c.times, c.what)
	}
}

// Events are sent at their times and never before; streams are spread over the
// period, share it, or keep the times of their requests.
func TestTheTimesOfEvents(t *testing.T) {
	const period = int64(20 * time.Millisecond)
	for _, o := range []nullserver.Options{{Step: true}, {Spread: true}, {First: 30 * time.Millisecond}} {
		o.Events, o.Rate, o.Journal = 10, 50, true
		url := serving(t, o)
		begin := nullserver.Now()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				events, done := stream(t, url, fmt.Sprint(i))
				assert.Len(t, events, 10)
				assert.True(t, done)
			})
		}
		all.Wait()
		journal, err := nullserver.Read(t.Context(), url)
		require.NoError(t, err)
		require.Len(t, journal, 20)
		phases := map[int64]bool{}
		late := period
		for _, r := range journal {
			due, first := r.Sent[0], int64(o.First) // at most: lateness comes and goes
			if first == 0 {
				first = period
			}
			for i, at := range r.Sent {
				assert.GreaterOrEqual(t, at, begin+first+int64(i)*period)
				assert.GreaterOrEqual(t, at, r.Arrival+first+int64(i)*period)
				due = min(due, at-int64(i)*period)
			}
			phases[due%period/(period/10)] = true
			late = min(late, due%period)
		}
		switch {
		case o.Step:
			assert.Less(t, late, period/10, "after the grid that all share")
		case o.Spread:
			assert.Greater(t, len(phases), 3, "tenths of the period in which streams begin")
		}
	}
}
