package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestWhatIsHeldInWords(t *testing.T) {
	some, none := 1500.0, 0.0
	for _, c := range []struct {
		what string
		held *float64
		not  float64
		cut  bool
		want string
	}{
		{"between", &some, 3000, false, "1,500 events/s (not 3,000)"},
		{"between, and ended", &some, 3000, true, "at least 1,500 events/s (not 3,000)"},
		{"ended going up", &some, 0, true, "at least 1,500 events/s (more not tried to the end)"},
		{"without limit", &some, 0, false, "1,500 events/s or more"},
		{"not the least", &none, 1000, false, "0 events/s (not 1,000)"},
		{"ended going down", nil, 3000, true, "events/s not known (not 3,000, and fewer not tried for want of time)"},
		{"not tried", nil, 0, true, "events/s not tried to the end"},
	} {
		assert.Equal(t, c.want, heldWords(c.held, c.not, c.cut, "events/s"), c.what)
	}
}

// What is not known is null, and what was not held of a kind is there only where
// something was not.
func TestWhatIsNotKnownIsNull(t *testing.T) {
	h := rooflineHolds{}
	h.Cut.Events, h.Cut.Streams = true, true
	requests := 1200.0
	h.Requests, h.Not.Requests, h.Sec.Requests = &requests, 2400, 2
	h.plan()
	text, err := json.Marshal(h)
	require.NoError(t, err)
	assert.JSONEq(t, `{"requests_per_sec": 1200, "events_per_sec": null, "streams": null, "held_for_sec": {"requests": 2},
		"not_held": {"requests_per_sec": 2400}, "ended_for_time": {"requests": false, "events": true, "streams": true},
		"plan_with_at_most": {"share_of_held": 0.5, "requests_per_sec": 600}}`, string(text))
}

// The streams of a step were open at once, if it was held.
func TestStreamsThatWereOpenInAStep(t *testing.T) {
	ok, not := metric.ClientOK, metric.ClientLimited
	var h rooflineHolds
	h.atLeast([]rooflineStep{{Streams: 1300, Verdict: not}})
	assert.Nil(t, h.Streams)
	h.atLeast([]rooflineStep{{Streams: 0.5, Verdict: ok}, {Streams: 920.8, Verdict: ok}, {Streams: 380, Verdict: ok}, {Streams: 1300, Verdict: not}})
	require.NotNil(t, h.Streams)
	assert.Equal(t, 920, *h.Streams)
}

// What was held for a moment is nothing to plan with.
func TestWhatToPlanWith(t *testing.T) {
	x := 1500.0
	for _, c := range []struct {
		what             string
		requests, events float64
		want             *rooflinePlan
		says             string
	}{
		{"both", 2, 1, &rooflinePlan{0.5, 750, 750}, "; the requests for 2s, the events for 1s\nplan      with at most 750 requests/s, 750 events/s: 50 % of what was held, since a host does not hold its most at all times\n"},
		{"events", 0.25, 1, &rooflinePlan{0.5, 0, 750}, "; the requests for 250ms, the events for 1s\nplan      with at most 750 events/s: 50 % of what was held, since a host does not hold its most at all times\n"},
		{"none", 0.25, 0, nil, "; the requests for 250ms\nplan      with nothing of it: what is held for a moment shows little\n"},
		{"nothing held", 0, 0, nil, "\n"},
	} {
		h := rooflineHolds{Requests: &x, Events: &x}
		h.Sec.Requests, h.Sec.Events = c.requests, c.events
		h.plan()
		assert.Equal(t, c.want, h.Plan, c.what)
		_, after, _ := strings.Cut(h.text(""), "with the server on this host")
		assert.Equal(t, c.says, after, c.what)
	}
}

// The verdict of the whole is that of all three kinds.
func TestTheStatusOfARoofline(t *testing.T) {
	n, x, none := 920, 1500.0, 0.0
	assert.False(t, (&rooflineHolds{Requests: &x, Events: &x, Streams: &n}).none())
	for what, h := range map[string]rooflineHolds{
		"no requests":        {Requests: &none, Events: &x},
		"no time for them":   {Events: &x},
		"no events":          {Requests: &x, Events: &none},
		"no time for events": {Requests: &x},
	} {
		assert.True(t, h.none(), what)
	}
}

func TestABusyHost(t *testing.T) {
	assert.Empty(t, busyHost(0.99, 2))
	assert.Equal(t, "the load average was 1.00 on 2 CPUs when this began: with nothing else running it may hold more", busyHost(1, 2))
	assert.Equal(t, "the load average was 0.50 on 1 CPU when this began: with nothing else running it may hold more", busyHost(0.5, 1))
	assert.Equal(t, 3.77, *loadAverage("3.77 4.30 3.55 5/126 17062\n"))
	for _, text := range []string{"", "\n", "many", "NaN 1 1", "-1 0 0"} {
		assert.Nil(t, loadAverage(text), text)
	}
}
