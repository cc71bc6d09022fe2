package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
		for _, name := range []string{"lag_p50_sec", "lag_p99_sec", "achieved", "scheduler_p99_sec"} {
			assert.Contains(t, s.Readings, name, kind)
		}
		if s.held() { // on a host that is full not one stream may have ended
			assert.Contains(t, s.Readings, "late_p50_sec", kind)
			assert.Contains(t, s.Readings, "late_p99_sec", kind)
		}
	}
	if r.Events[0].held() {
		assert.Contains(t, r.Events[0].Readings, "server_pace")
	}
	assert.NotContains(t, r.Requests[0].Readings, "server_pace", "a reply of one event has no pace")
	require.NotNil(t, r.Holds)
	if !r.Holds.none() {
		require.NotNil(t, r.Streams)
		fifty := 50
		assert.Equal(t, &rooflineWide{Streams: 50, Ended: &fifty, BytesEach: r.Streams.BytesEach, SentSec: r.Streams.SentSec}, r.Streams)
		assert.Equal(t, &fifty, r.Holds.Streams)
		assert.Equal(t, 0.25, r.Holds.Sec.Requests, "there was no time for more")
	} else {
		assert.Nil(t, r.Streams, "not tried")
		assert.True(t, r.Holds.Cut.Streams)
	}
	assert.Nil(t, r.Holds.Plan, "there was no time to try for longer")
	assert.Equal(t, 0.25, r.Requests[0].WindowSec)
	if r.Client != nil {
		assert.Positive(t, r.Client.RequestSec)
	} else {
		assert.Contains(t, strings.Join(r.Notes, "\n"), "the first steps are a small host's: ")
	}
	assert.Contains(t, r.Host, metric.Pair{Key: "os", Value: runtime.GOOS + "/" + runtime.GOARCH}, "as the record says")
	if r.Holds.none() {
		assert.Equal(t, exitUnusable, status)
		assert.Contains(t, errs.String(), "not one step was held")
	} else {
		assert.Equal(t, exitOK, status)
		assert.Empty(t, errs.String())
	}
}

// A load that is asked about is offered.
func TestALoadThatIsAskedAbout(t *testing.T) {
	for _, c := range []struct {
		ask rooflineAsk
		why string
	}{
		{rooflineAsk{20, 30, 100}, `^20 requests/s of 30 tokens, 600 events/s in 6 streams of 100 events/s, for 2s: (held|not held: .*|not known: .*)$`},
		{rooflineAsk{4, 1, 50}, `^4 requests/s of 1 token, for 2\.5s: (held|not held: .*|not known: .*)$`},
	} {
		var out, errs bytes.Buffer
		m := rooflineRun{url: nullAt(t), time: usualTime}
		status := m.tell(t.Context(), c.ask, true, &out, &errs)
		var r roofline
		require.NoError(t, json.Unmarshal(out.Bytes(), &r), errs.String())
		require.NotNil(t, r.Asked)
		assert.Equal(t, r.Asked.Unknown, errs.Len() > 0, errs.String())
		assert.Regexp(t, c.why, r.Asked.Why)
		want := exitNegative
		switch {
		case r.Asked.Held:
			want = exitOK
		case r.Asked.Unknown:
			want = exitUnusable
		}
		assert.Equal(t, want, status)
		assert.Nil(t, r.Holds, "nothing else was measured")
		if r.Asked.Offered == nil { // on a host that is full
			assert.Contains(t, r.Asked.Why, "had not ended after")
			continue
		}
		assert.Equal(t, r.Asked.Held, r.Asked.Offered.held())
		assert.Contains(t, r.Asked.Offered.Readings, "lag_p99_sec")
		assert.Equal(t, c.ask.events(), r.Asked.Offered.Events)
	}
}

// What is not known is not called not held: there is another exit status for it.
func TestWhatALoadThatIsAskedAboutShows(t *testing.T) {
	for _, c := range []struct {
		verdict       string
		more          bool
		held, unknown bool
		why           string
	}{
		{metric.ClientOK, false, true, false, "held"},
		{metric.ClientOK, true, true, false, "held"},
		{metric.ClientLimited, false, false, false, "not held: client-limited"},
		{metric.ClientLimited, true, false, true, "not known: client-limited at more than was asked for"},
		{metric.ClientUnknown, false, false, true, "not known: unknown"},
		{serverLimited, false, false, true, "not known: server-limited"},
		{stepInvalid, true, false, true, "not known: invalid at more than was asked for"},
	} {
		var a rooflineAnswer
		a.saw(rooflineStep{Verdict: c.verdict}, c.more)
		assert.Equal(t, rooflineAnswer{Offered: &rooflineStep{Verdict: c.verdict}, Held: c.held, Unknown: c.unknown, Why: c.why}, a)
	}
}

// What nobody could hold is not tried.
func TestALoadThatIsTooMuch(t *testing.T) {
	m := rooflineRun{time: usualTime, out: roofline{Client: &rooflineCost{40e-6, 8e-6}}}
	require.NoError(t, m.answer(t.Context(), rooflineAsk{1e6, 1000, 50}))
	assert.False(t, m.out.Asked.Held)
	assert.Nil(t, m.out.Asked.Offered)
	assert.Equal(t, fmt.Sprintf("1,000,000 requests/s of 1000 tokens, 1,000,000,000 events/s in 20,000,000 streams of 50 events/s "+
		"(offered as 1,333,333 requests/s of 750 tokens, 1,000,000,000 events/s in 20,000,000 streams of 50 events/s; not tried: streams longer than 15s): "+
		"not tried, and not held: the client alone takes 8.05e+03 CPUs by its calibrated cost, and this host has %d", runtime.GOMAXPROCS(0)), m.out.Asked.Why)
	assert.Equal(t, []string{"streams longer than 15s"}, m.out.Asked.NotTried)
}

func TestEnoughFiles(t *testing.T) {
	assert.NoError(t, enoughFiles(0), "unknown")
	assert.NoError(t, enoughFiles(512))
	assert.EqualError(t, enoughFiles(64), "each stream is a descriptor, fewer than 512 show nothing of this host, 16384 are plenty, and the limit (RLIMIT_NOFILE) is 64: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile")
	assert.Equal(t, "each stream is a descriptor, 256 are for all else, and the limit (RLIMIT_NOFILE) is 1024: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile", filesEnd(1024))
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

func TestTheFlagsOfARoofline(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"-rate -1", "openloop roofline: -rate must be above 0 and at most 1,000,000 requests a second, got -1: without it all is measured\n"},
		{"-rate 0", "openloop roofline: -rate must be above 0 and at most 1,000,000 requests a second, got 0: without it all is measured\n"},
		{"-rate NaN -tokens -3", "openloop roofline: -rate must be above 0 and at most 1,000,000 requests a second, got NaN: without it all is measured\nopenloop roofline: -tokens must be from 1 to 1,000,000, got -3\n"},
		{"-rate 5 -tokens 0", "openloop roofline: -tokens must be from 1 to 1,000,000, got 0\n"},
		{"-tokens 256", "openloop roofline: -tokens 256 needs a -rate, as in -rate 20 -tokens 256\n"},
		{"-rate 5 -tokens 2 -tokens-per-sec 0.5", "openloop roofline: -tokens-per-sec must be from 1 to 10,000 a stream, got 0.5\n"},
		{"-rate 5 -tokens-per-sec 20", "openloop roofline: -tokens-per-sec 20 needs a -rate and -tokens above 1, as in -rate 20 -tokens 256\n"},
		{"-serve -json", "openloop roofline: flag provided but not defined: -serve\n"},
		{"twice", "openloop roofline: want flags only, got [\"twice\"]\n"},
		{"-fast", "openloop roofline: flag provided but not defined: -fast\n"},
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, exitUnusable, rooflineVerb(strings.Fields(c.args), &out, &errs), c.args)
		assert.Equal(t, c.want, errs.String())
		assert.Empty(t, out.String())
	}
}
