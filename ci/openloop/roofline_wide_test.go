package main

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// Streams were open at once when the last was sent before the first ended,
// whatever was called when.
func TestStreamsThatAreOpenAtOnce(t *testing.T) {
	origins := map[string]nullserver.Seen{"a": {Origin: 1000}, "b": {Origin: 2000}}
	seen := func(id string) (nullserver.Seen, bool) {
		s, ok := origins[id]
		return s, ok
	}
	line := func(id string, sent, closed time.Duration) *metric.Timeline {
		return &metric.Timeline{ID: id, Sent: sent, Closed: closed}
	}
	for _, c := range []struct {
		what    string
		streams []*metric.Timeline
		want    together
		all     bool
	}{
		{"all of the time of the shorter", []*metric.Timeline{line("a", 100, 9000), line("b", 100, 5000)}, together{2100, 7000}, true},
		{"the first ends before the last is sent", []*metric.Timeline{line("a", 100, 1000), line("b", 100, 5000)}, together{2100, 2000}, false},
		{"as the last is sent", []*metric.Timeline{line("a", 100, 1100), line("b", 100, 5000)}, together{2100, 2100}, false},
		{"one was never sent", []*metric.Timeline{line("a", 100, 9000), line("b", 0, 5000)}, together{}, false},
		{"one has no end", []*metric.Timeline{line("a", 100, 9000), line("b", 100, 0)}, together{}, false},
		{"one was not seen", []*metric.Timeline{line("a", 100, 9000), line("c", 100, 9000)}, together{}, false},
		{"none", nil, together{}, false},
	} {
		got := openTogether(c.streams, seen)
		assert.Equal(t, c.want, got, c.what)
		assert.Equal(t, c.all, got.all(), c.what)
	}
}

// past is a context whose deadline has passed.
func past(t *testing.T) context.Context {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	t.Cleanup(cancel)
	return ctx
}

// Streams that there was no time for, or that were cut, are not 0: as many as were
// open in a step of events are the least.
func TestStreamsThatThereIsNoTimeFor(t *testing.T) {
	held := 920
	m := rooflineRun{url: nullAt(t), streams: 10_000, time: usualTime, out: roofline{Holds: &rooflineHolds{Streams: &held}}}
	require.NoError(t, m.wide(past(t)))
	assert.Equal(t, &rooflineWide{Streams: 10_000, Reason: "not tried for want of time"}, m.out.Streams)
	assert.Equal(t, &held, m.out.Holds.Streams)
	assert.Zero(t, m.out.Holds.Not.Streams)
	assert.True(t, m.out.Holds.Cut.Streams)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, context.Canceled, m.wide(ctx))
}

func TestStreamsThatAreCutForTime(t *testing.T) {
	silent, err := nullserver.Listen("127.0.0.1:0") // and nobody answers
	require.NoError(t, err)
	defer silent.Close()
	m := rooflineRun{url: "http://" + silent.Addr().String(), streams: 50, time: usualTime, out: roofline{Holds: &rooflineHolds{}}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	require.NoError(t, m.wide(ctx))
	assert.Equal(t, &rooflineWide{Streams: 50, Reason: "not tried to the end: 10.9s are over"}, m.out.Streams)
	assert.Nil(t, m.out.Holds.Streams)
	assert.Zero(t, m.out.Holds.Not.Streams)
	assert.True(t, m.out.Holds.Cut.Streams)
}

func TestHowManyStreamsThereIsTimeFor(t *testing.T) {
	cost := &rooflineCost{RequestSec: 40e-6}
	for _, c := range []struct {
		what string
		left time.Duration
		cost *rooflineCost
		busy bool
		n    int
	}{
		{"all", 4 * time.Second, cost, false, 10_000},
		{"on a busy host fewer", 4 * time.Second, cost, true, 7300},
		{"whose cost is not known", 4 * time.Second, nil, false, 8100},
		{"few", 2 * time.Second, cost, false, 1200},
		{"none", 1500 * time.Millisecond, cost, false, 0},
		{"time is over", -time.Second, cost, false, 0},
	} {
		assert.Equal(t, c.n, streamsIn(c.left, c.cost, 10_000, c.busy), c.what)
	}
}

// Streams that end at once were never open together, however many ended well.
func TestStreamsThatAreNeverAllOpen(t *testing.T) {
	m := rooflineRun{url: nullAt(t) + "/0/x", streams: 50, time: usualTime, out: roofline{Holds: &rooflineHolds{}}}
	require.NoError(t, m.wide(t.Context()))
	assert.Nil(t, m.out.Holds.Streams)
	assert.Equal(t, 50, m.out.Holds.Not.Streams)
	assert.False(t, m.out.Holds.Cut.Streams)
	assert.NotEmpty(t, m.out.Streams.Reason)
	assert.Zero(t, m.out.Streams.BytesEach)
}

// A load that was not tried to its end is neither held nor not.
func TestALoadThatIsCutForTime(t *testing.T) {
	m := rooflineRun{url: nullAt(t), time: usualTime}
	require.NoError(t, m.answer(past(t), rooflineAsk{7.5, 1, 50}))
	assert.Equal(t, &rooflineAnswer{rooflineAsk: rooflineAsk{7.5, 1, 50}, Unknown: true,
		Why: "7.5 requests/s of 1 token: not known, since it was not tried to the end: what is over in 3s otherwise had not ended after 6s"}, m.out.Asked)
}

// A measurement whose time is over before it begins shows nothing, and says so.
func TestNoTimeAtAll(t *testing.T) {
	for _, ask := range []rooflineAsk{{}, {20, 1, 50}} {
		var out, errs bytes.Buffer
		m := rooflineRun{url: nullAt(t), time: rooflineTime{hard: math.MinInt64 / 2, ask: math.MinInt64 / 2}}
		assert.Equal(t, exitUnusable, m.tell(t.Context(), ask, false, &out, &errs))
		assert.Equal(t, "openloop roofline: context deadline exceeded\n", errs.String())
		assert.Empty(t, out.String())
	}
}
