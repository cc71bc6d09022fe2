package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// nullAt is a null server in this process.
func nullAt(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- newNullServer().serve(l) }()
	t.Cleanup(func() {
		l.Close()
		assert.NoError(t, <-done)
	})
	return "http://" + l.Addr().String()
}

// The first step of each kind, on the real clock: whatever the host holds just
// now, every number is there and each verdict has its reasons.
func TestARooflineHasItsNumbers(t *testing.T) {
	var out, errs bytes.Buffer
	status := tellRoofline(t.Context(), nullAt(t), 50, time.Nanosecond, rooflineAsk{Rate: 1e6, Tokens: 1000}, true, &out, &errs)
	require.Empty(t, errs.String())
	assert.Equal(t, exitNegative, status, "nobody offers a billion events a second")
	var r roofline
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	for kind, steps := range map[string][]rooflineStep{"requests": r.Requests, "events": r.Events} {
		require.Len(t, steps, 1, kind)
		s := steps[0]
		assert.Contains(t, []string{metric.ClientOK, metric.ClientLimited}, s.Verdict, "%v", s.Reasons)
		assert.NotEmpty(t, s.Reasons, kind)
		for _, name := range []string{"lag_p50_sec", "lag_p99_sec", "achieved", "late_p50_sec", "late_p99_sec", "scheduler_p99_sec"} {
			assert.Contains(t, s.Readings, name, kind)
		}
	}
	assert.Equal(t, 5000.0, r.Events[0].Events)
	require.NotNil(t, r.Streams)
	assert.Equal(t, []int{50, 50}, []int{r.Streams.Streams, r.Streams.Ended}, r.Streams.Reason)
	assert.Equal(t, 50, r.Holds.Streams)
	require.NotNil(t, r.Client)
	assert.Positive(t, r.Client.RequestSec)
	assert.Contains(t, r.Host, metric.Pair{Key: "os", Value: runtime.GOOS + "/" + runtime.GOARCH}, "as the record says")
	require.NotNil(t, r.Asked)
	assert.False(t, r.Asked.Held)
}

// The server sends what is asked for and remembers when.
func TestTheNullServerRemembersWhatItSent(t *testing.T) {
	m := &rooflineRun{url: nullAt(t)}
	for _, c := range []struct {
		rate   float64
		tokens int
		writes int
	}{{0, 7, 1}, {500, 9, 9}} {
		w, err := m.watch(c.rate)
		require.NoError(t, err)
		defer w.client.Close()
		before := time.Now()
		r := engines.Request{ID: "a", Text: "x", MaxTokens: c.tokens, Stamp: func() time.Duration { return time.Since(before) }}
		reply, err := w.Generate(t.Context(), &r, func(engines.Chunk) {})
		require.NoError(t, err)
		assert.Equal(t, engines.Known(c.tokens), reply.OutputTokens)
		assert.Len(t, w.at["a"], c.tokens)
		var sent map[string][]int64
		for len(sent["a"]) == 0 { // it is kept after the last byte has left
			sent, err = m.sent(t.Context())
			require.NoError(t, err)
		}
		assert.Len(t, sent["a"], c.writes)
		for i, at := range sent["a"] {
			assert.GreaterOrEqual(t, at, before.Add(time.Duration(i+1)*time.Duration(c.rate/500*2)*time.Millisecond).UnixNano())
		}
	}
	sent, err := m.sent(t.Context())
	require.NoError(t, err)
	assert.Empty(t, sent, "told once")
}

func TestReadNull(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       nullRequest
		err        bool
	}{
		{"a generation", "POST /50/v1/completions HTTP/1.1\r\nHost: a\r\nX-Request-Id: r7\r\nContent-Length: 33\r\n\r\n" + `{"prompt":[1],"max_tokens":  256}`, nullRequest{"/50/v1/completions", "r7", 256}, false},
		{"a question", "GET /sent HTTP/1.1\r\nHost: a\r\n\r\n", nullRequest{"/sent", "", 0}, false},
		{"no tokens", "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", nullRequest{"/", "", 0}, false},
		{"cut short", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}", nullRequest{}, true},
		{"a length that is none", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n{}", nullRequest{}, true},
		{"nothing", "", nullRequest{}, true},
	} {
		got, err := readNull(bufio.NewReader(strings.NewReader(c.text)))
		assert.Equal(t, c.err, err != nil, "%s: %v", c.name, err)
		if !c.err {
			assert.Equal(t, c.want, got, c.name)
		}
	}
}

// Whatever comes, reading ends, and asks for no absurd work.
func FuzzReadNull(f *testing.F) {
	f.Add("POST /50/v1/completions HTTP/1.1\r\nContent-Length: 19\r\n\r\n{\"max_tokens\":12345}")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := readNull(bufio.NewReader(strings.NewReader(text))); err == nil && (r.tokens < 0 || r.tokens > 1<<20) {
			t.Errorf("%d tokens", r.tokens)
		}
	})
}

func TestTheAnswerOfARoofline(t *testing.T) {
	r := roofline{Holds: rooflineHolds{Requests: 8000, Events: 80_000, Streams: 10_000, Limited: []string{"requests", "events"}}}
	for _, c := range []struct {
		rate   float64
		tokens int
		held   bool
		why    string
	}{
		{20, 256, true, "20 requests/s of 256 tokens, 5,120 events/s: held: 6.7 % of what was, requests and events together"},
		{200, 256, true, "200 requests/s of 256 tokens, 51,200 events/s: held: 66.5 % of what was, requests and events together"},
		{4000, 10, true, "4,000 requests/s of 10 tokens, 40,000 events/s: held: 100 % of what was, requests and events together"},
		{4001, 10, false, "4,001 requests/s of 10 tokens, 40,010 events/s: not held: 100.0 % of what was, requests and events together"},
		{1000, 256, false, "1,000 requests/s of 256 tokens, 256,000 events/s: not held: 332.5 % of what was, requests and events together"},
	} {
		a := r.answer(rooflineAsk{c.rate, c.tokens})
		assert.Equal(t, c.why, a.Why)
		assert.Equal(t, c.held, a.Held, c.why)
	}
	r.Holds.Limited = []string{"events"}
	assert.Equal(t, "9,000 requests/s of 1 token, 9,000 events/s: not shown to be held, since it is more than was tried: 123.8 % of what was, requests and events together", r.answer(rooflineAsk{9000, 1}).Why)
	none := (&roofline{}).answer(rooflineAsk{1, 1})
	assert.False(t, none.Held)
	assert.Equal(t, "1 requests/s of 1 token: not held: not even the first step was", none.Why)
}

func TestTheTextOfARoofline(t *testing.T) {
	r := roofline{
		Host:   []metric.Pair{{Key: "cores", Value: "16"}, {Key: "go", Value: "go1.26"}},
		Client: &rooflineCost{31e-6, 9.24e-6},
		Requests: []rooflineStep{
			{Requests: 1000, Events: 1000, Verdict: metric.ClientOK, Readings: map[string]float64{
				"achieved": 0.99999, "lag_p50_sec": 45e-6, "lag_p99_sec": 98e-6, "lag_max_sec": 312e-6, "late_p50_sec": 4.7e-6, "late_p99_sec": 40e-6, "process_cpus": 0.08, "host_busy_share": 0.11}},
			{Requests: 2000, Events: 2000, Verdict: metric.ClientLimited, Reasons: []string{"requests left late"}, Readings: map[string]float64{"achieved": 0.97}},
		},
		Events:  []rooflineStep{{Requests: 166.7, Events: 5000, Streams: 100, Verdict: metric.ClientOK, Readings: map[string]float64{"lag_max_sec": 1.25}}},
		Streams: &rooflineWide{Streams: 10_000, Ended: 9_999, BytesEach: 13_722, SentSec: 0.51, Reason: "client: too many open files"},
		Holds:   rooflineHolds{Requests: 1000, Events: 5000, Limited: []string{"requests", "streams"}},
		Asked:   &rooflineAnswer{Why: "20 requests/s of 256 tokens, 5,120 events/s: not held"},
		Notes:   []string{"ended for time"},
	}
	assert.Equal(t, `host      cores 16, go go1.26
client    31µs of CPU a request, 9.2µs an event (calibrated)

short requests, of one event
                            achieved    lag                    events          client   host                 
   requests/s   events/s   ÷ offered    p50    p99     max   late p50    p99     CPUs   busy           client
        1,000      1,000      1.0000   45µs   98µs   312µs      4.7µs   40µs     0.08   11 %               ok
        2,000      2,000      0.9700      ?      ?       ?          ?      ?        ?      ?   client-limited
   requests left late

streams of 50 events/s
                                      achieved   lag                   events         client   host         
   streams   requests/s   events/s   ÷ offered   p50   p99     max   late p50   p99     CPUs   busy   client
       100          167      5,000           ?     ?     ?   1.25s          ?     ?        ?      ?       ok

at once   9,999 of 10,000 streams ended well, 13.4 KiB of memory each, all sent within 510ms
          client: too many open files
holds     1,000 requests/s, 5,000 events/s or more, 0 streams at once
          with the server on this host; each step up is twice the load, so the limit is between
asked     20 requests/s of 256 tokens, 5,120 events/s: not held
note      ended for time
`, r.text())
}

func TestTheFlagsOfARoofline(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"-rate -1", "openloop roofline: -rate must be from 0 to 1,000,000 requests a second, got -1\n"},
		{"-rate NaN -tokens -3", "openloop roofline: -rate must be from 0 to 1,000,000 requests a second, got NaN\nopenloop roofline: -tokens must be from 1 to 1,000,000, got -3\n"},
		{"-tokens 256", "openloop roofline: -tokens 256 needs a -rate, as in -rate 20 -tokens 256\n"},
		{"twice", "openloop roofline: want flags only, got [\"twice\"]\n"},
		{"-fast", "openloop roofline: flag provided but not defined: -fast\n"},
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, exitUnusable, rooflineVerb(strings.Fields(c.args), &out, &errs), c.args)
		assert.Equal(t, c.want, errs.String())
		assert.Empty(t, out.String())
	}
}

// The server's process ends with its input.
func TestTheServerEndsWithItsInput(t *testing.T) {
	var out, errs bytes.Buffer
	assert.Equal(t, exitOK, serveNull(strings.NewReader(""), &out, &errs))
	assert.Regexp(t, `^listening on http://127\.0\.0\.1:\d+\n$`, out.String())
	assert.Empty(t, errs.String())
}
