package main

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// nullAt is a null server in this process.
func nullAt(t *testing.T) string {
	t.Helper()
	s, err := nullserver.New(nullOptions())
	require.NoError(t, err)
	l, err := nullserver.Listen("127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		assert.NoError(t, <-done)
	})
	return "http://" + l.Addr().String()
}

// One step of each kind, on the real clock: whatever the host holds just now,
// every number is there and each verdict has its reasons.
func TestARooflineHasItsNumbers(t *testing.T) {
	var out, errs bytes.Buffer
	// Of each kind one step, which is a small one, and time enough for it.
	m := rooflineRun{url: nullAt(t), streams: 50, time: rooflineTime{hard: time.Minute}, grace: time.Minute, first: rooflineFirst{0.01, 0.01}}
	status := m.tell(t.Context(), rooflineAsk{}, true, &out, &errs)
	var r roofline
	require.NoError(t, json.Unmarshal(out.Bytes(), &r), errs.String())
	for kind, steps := range map[string][]rooflineStep{"requests": r.Requests, "events": r.Events} {
		require.Len(t, steps, 1, kind)
		s := steps[0]
		assert.Contains(t, []string{metric.ClientOK, metric.ClientLimited, serverLimited, stepInvalid}, s.Verdict, "%v", s.Reasons)
		assert.NotEmpty(t, s.Reasons, kind)
		for _, name := range []string{"lag_p50_sec", "lag_p99_sec", "achieved", "late_p50_sec", "late_p99_sec", "scheduler_p99_sec"} {
			assert.Contains(t, s.Readings, name, kind)
		}
	}
	assert.Contains(t, r.Events[0].Readings, "server_pace")
	assert.NotContains(t, r.Requests[0].Readings, "server_pace", "a reply of one event has no pace")
	require.NotNil(t, r.Holds)
	if r.Holds.Requests > 0 && r.Holds.Events > 0 {
		require.NotNil(t, r.Streams)
		assert.Equal(t, []int{50, 50}, []int{r.Streams.Streams, r.Streams.Ended}, r.Streams.Reason)
		assert.Equal(t, 50, r.Holds.Streams)
	} else {
		assert.Nil(t, r.Streams, "not tried")
	}
	require.NotNil(t, r.Client)
	assert.Positive(t, r.Client.RequestSec)
	assert.Contains(t, r.Host, metric.Pair{Key: "os", Value: runtime.GOOS + "/" + runtime.GOARCH}, "as the record says")
	if r.Holds.Requests == 0 || r.Holds.Events == 0 {
		assert.Equal(t, exitUnusable, status)
		assert.Contains(t, errs.String(), "not one step was held")
	} else {
		assert.Equal(t, exitOK, status)
		assert.Empty(t, errs.String())
	}
}

// A load that is asked about is offered, unless nobody could.
func TestALoadThatIsAskedAbout(t *testing.T) {
	for _, c := range []struct {
		ask     rooflineAsk
		offered bool
		why     string
	}{
		{rooflineAsk{20, 30}, true, `^20 requests/s of 30 tokens, 600 events/s in 6 streams of 100 events/s: (held|not held: .*)$`},
		{rooflineAsk{0.5, 1}, true, `^0\.5 requests/s of 1 token \(as 5 a second, since fewer show nothing in 2s\): (held|not held: .*)$`},
		{rooflineAsk{1e6, 1000}, false, `^1,000,000 requests/s of 1000 tokens, 1,000,000,000 events/s in 2,000,000 streams of 500 events/s: not tried, and not held: the client alone takes .* CPUs by its calibrated cost, and this host has \d+$`},
	} {
		var out, errs bytes.Buffer
		m := rooflineRun{url: nullAt(t), time: rooflineTime{hard: time.Minute}}
		status := m.tell(t.Context(), c.ask, true, &out, &errs)
		require.Empty(t, errs.String())
		var r roofline
		require.NoError(t, json.Unmarshal(out.Bytes(), &r))
		require.NotNil(t, r.Asked)
		assert.Regexp(t, c.why, r.Asked.Why)
		assert.Equal(t, map[bool]int{true: exitOK, false: exitNegative}[r.Asked.Held], status)
		assert.Nil(t, r.Holds, "nothing else was measured")
		if assert.Equal(t, c.offered, r.Asked.Offered != nil) && c.offered {
			assert.Equal(t, r.Asked.Held, r.Asked.Offered.held())
			assert.Contains(t, r.Asked.Offered.Readings, "lag_p99_sec")
		} else {
			assert.False(t, r.Asked.Held)
		}
	}
}

func TestAClimb(t *testing.T) {
	for _, c := range []struct {
		what         string
		first, limit float64
		tried        []float64
		held, failed float64
	}{
		{"up, and between", 9000, 41_234, []float64{9000, 18_000, 36_000, 72_000, 51_000, 43_000}, 36_000, 43_000},
		{"down, and between", 9000, 1234, []float64{9000, 2300, 580, 1200, 1700, 1400}, 1200, 1400},
		{"the limit is the first step", 9000, 9000, []float64{9000, 18_000, 13_000, 11_000}, 9000, 11_000},
		{"no limit", 900_000, 1e9, []float64{900_000, 1_000_000}, 1_000_000, 0},
		{"nothing is held", 9000, 1, []float64{9000, 2300, 580, 150, 50}, 0, 50},
		{"a first step below the least", 1, 60, []float64{50, 100, 71, 60}, 60, 71},
	} {
		s := climb{first: c.first, least: 50, most: 1_000_000}
		var tried []float64
		for {
			load, more := s.next()
			if !more {
				break
			}
			require.Less(t, len(tried), 30, c.what)
			tried = append(tried, load)
			s.saw(load, load <= c.limit)
		}
		assert.Equal(t, c.tried, tried, c.what)
		assert.Equal(t, []float64{c.held, c.failed}, []float64{s.held, s.failed}, c.what)
	}
}

func TestPredict(t *testing.T) {
	for _, c := range []struct {
		cost             *rooflineCost
		cpus             int
		requests, events float64
	}{
		{&rooflineCost{40e-6, 8e-6}, 2, 50_000, 2 / (16e-6 + 40e-6/24)},
		{&rooflineCost{40e-6, 8e-6}, 16, 400_000, 4 / 8e-6}, // by the loops that read
		{nil, 2, 25_000, 2 / (32e-6 + 80e-6/24)},
		{&rooflineCost{40e-6, 0}, 2, 25_000, 2 / (32e-6 + 80e-6/24)},
	} {
		requests, events := predict(c.cost, c.cpus)
		assert.InDelta(t, c.requests, requests, 1)
		assert.InDelta(t, c.events, events, 1)
	}
}

func TestEnoughFiles(t *testing.T) {
	assert.NoError(t, enoughFiles(0), "unknown")
	assert.NoError(t, enoughFiles(512))
	assert.EqualError(t, enoughFiles(64), "this process may have 64 files open (RLIMIT_NOFILE), each stream is one, and fewer than 512 show nothing of this host: raise it, as with ulimit -n 16384, LimitNOFILE or --ulimit nofile")
}

// What a server could not send in time is not held by the client's merit.
func TestTheServersPace(t *testing.T) {
	const ms = int64(time.Millisecond)
	record := func() *metric.Record {
		return &metric.Record{From: 1, To: time.Second, Requests: []metric.Timeline{{ID: "a", Phase: metric.Window, Scheduled: 2}}}
	}
	for _, c := range []struct {
		what    string
		sent    []int64
		verdict string
		pace    float64
	}{
		{"in time", []int64{0, 10 * ms, 20 * ms}, metric.ClientOK, 1},
		{"a tenth too slow", []int64{0, 11 * ms, 22 * ms}, serverLimited, 1 / 1.1},
	} {
		engine := &watched{Watched: nullserver.Watch(stamping{c.sent})}
		_, err := engine.Generate(t.Context(), &engines.Request{ID: "a", MaxTokens: 3}, func(engines.Chunk) {})
		require.NoError(t, err)
		seen, _ := engine.Seen("a")
		sent := make([]int64, len(c.sent))
		for i, at := range seen.Events {
			sent[i] = at - 5000
		}
		s := rooflineStep{Verdict: metric.ClientOK, Readings: map[string]float64{}}
		s.beside(record(), engine, map[string][]int64{"a": sent}, 100)
		assert.Equal(t, c.verdict, s.Verdict, c.what)
		assert.InDelta(t, c.pace, s.Readings["server_pace"], 1e-9, c.what)
		assert.InDelta(t, 5e-6, s.Readings["late_p99_sec"], 1e-12, c.what)
	}
	s := rooflineStep{Verdict: metric.ClientOK, Readings: map[string]float64{}}
	s.beside(record(), &watched{Watched: nullserver.Watch(stamping{})}, nil, 100)
	assert.Empty(t, s.Readings, "of nothing nothing is known")
}

// stamping is an engine whose events come at given times.
type stamping struct{ at []int64 }

func (e stamping) Generate(_ context.Context, _ *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	for _, at := range e.at {
		emit(engines.Chunk{At: time.Duration(at), Token: true})
	}
	return engines.Reply{}, nil
}

func TestTheTextOfARoofline(t *testing.T) {
	r := roofline{
		Host:   []metric.Pair{{Key: "cores", Value: "16"}, {Key: "go", Value: "go1.26"}},
		Client: &rooflineCost{31e-6, 9.24e-6},
		Requests: []rooflineStep{
			{Requests: 1000, Events: 1000, Verdict: metric.ClientOK, Readings: map[string]float64{
				"achieved": 0.99999, "lag_p50_sec": 45e-6, "lag_p99_sec": 98e-6, "lag_max_sec": 312e-6, "late_p50_sec": 4.7e-6, "late_p99_sec": 40e-6, "process_cpus": 0.08, "host_busy_share": 0.11}},
			{Requests: 2000, Events: 2000, Verdict: metric.ClientLimited, Reasons: []string{"requests left late: give it more CPU"}, Readings: map[string]float64{"achieved": 0.97}},
		},
		Events:  []rooflineStep{{Requests: 166.7, Events: 5000, Streams: 100, Verdict: metric.ClientOK, Readings: map[string]float64{"lag_max_sec": 1.25}}},
		Streams: &rooflineWide{Streams: 10_000, Ended: 9_999, BytesEach: 13_722, SentSec: 0.51, Reason: "client: too many open files"},
		Holds:   &rooflineHolds{Requests: 1000, Events: 5000},
		Notes:   []string{"ended for time"},
	}
	r.Holds.Not.Requests, r.Holds.Not.Streams = 2000, 10_000
	assert.Equal(t, `host      cores 16, go go1.26
client    31µs of CPU a request, 9.2µs an event (calibrated)

short requests, of one event
                            achieved    lag                    events          client   host                 
   requests/s   events/s   ÷ offered    p50    p99     max   late p50    p99     CPUs   busy           client
        1,000      1,000      1.0000   45µs   98µs   312µs      4.7µs   40µs     0.08   11 %               ok
        2,000      2,000      0.9700      ?      ?       ?          ?      ?        ?      ?   client-limited
   2,000 events/s: requests left late

streams of 100 events/s
                                      achieved   lag                   events         client   host         
   streams   requests/s   events/s   ÷ offered   p50   p99     max   late p50   p99     CPUs   busy   client
       100          167      5,000           ?     ?     ?   1.25s          ?     ?        ?      ?       ok

at once   9,999 of 10,000 streams ended well, 13.4 KiB of memory each, all sent within 510ms
          client: too many open files
holds     1,000 requests/s (not 2,000), 5,000 events/s or more, 0 streams at once (not 10,000)
          each by itself, with the server on this host
note      ended for time
`, r.text())
}

func TestTheTextOfALoadThatIsAskedAbout(t *testing.T) {
	r := roofline{
		Client: &rooflineCost{31e-6, 9.24e-6},
		Asked: &rooflineAnswer{Why: "20 requests/s: not held: client-limited", Offered: &rooflineStep{
			Requests: 20, Events: 20, Verdict: metric.ClientLimited, Reasons: []string{"requests left late: give it more CPU"}, Readings: map[string]float64{"achieved": 0.97},
		}},
	}
	assert.Equal(t, `client    31µs of CPU a request, 9.2µs an event (calibrated)

                            achieved   lag                 events         client   host                 
   requests/s   events/s   ÷ offered   p50   p99   max   late p50   p99     CPUs   busy           client
           20         20      0.9700     ?     ?     ?          ?     ?        ?      ?   client-limited
   20 events/s: requests left late

asked     20 requests/s: not held: client-limited
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
