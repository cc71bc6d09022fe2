//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// TestMain lets this program's children be this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every client reads every event of every stream, and its times can be put
// beside the server's. What the numbers are is up to the host.
func TestTruthOfAllClients(t *testing.T) {
	require.NoError(t, truth([]string{"-loads", "20x100", "-events", "20", "-window", "300ms", "-turns", "1", "-clients", "openai,openai-net/http", "-over", ""}))
}

// A client that shares its CPU with many others is given its load all the same.
func TestTruthUnderOverload(t *testing.T) {
	set, err := allowed()
	require.NoError(t, err)
	if len(set.list()) < 2 {
		t.Skip("an overload needs two CPUs")
	}
	before := set
	require.NoError(t, truth([]string{"-loads", "200x100", "-events", "20", "-window", "300ms", "-turns", "1", "-over", "1"}))
	set, err = allowed()
	require.NoError(t, err)
	assert.Equal(t, before, set, "where this process may run is as it was")
}

func TestLag(t *testing.T) {
	require.NoError(t, lag([]string{"-rate", "200", "-window", "500ms", "-turns", "1"}))
}

func TestCostAgainstTheFloor(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler for the floor")
	}
	args := []string{"-streams", "20", "-rate", "100", "-events", "20", "-repeats", "1"}
	require.NoError(t, cost(args))
	assert.ErrorContains(t, cost(append(args, "-want", "0.001")), "openai costs ")
}

func TestStreamsAtOnce(t *testing.T) {
	require.NoError(t, streams([]string{"-streams", "200", "-rate", "20", "-events", "30"}))
}

func TestCompare(t *testing.T) {
	journal := func(sent ...int64) []nullserver.Request { return []nullserver.Request{{ID: "a", Sent: sent}} }
	window := func(seen ...int64) []asked { return []asked{{ID: "a", Events: seen}} }
	for _, tt := range []struct {
		what string
		sent []nullserver.Request
		seen []asked
		want distances
		err  string
	}{
		{"late by one and by three", journal(10, 20), window(11, 23), distances{first: []int64{1}, gaps: []int64{2}, all: []int64{1, 3}, rate: 1e8}, ""},
		{"early", journal(10, 20), window(8, 19), distances{first: []int64{2}, gaps: []int64{1}, all: []int64{2, 1}, rate: 1e8}, ""},
		{"a request outside of the window", append(journal(10, 20), nullserver.Request{ID: "b", Sent: []int64{7}}), window(10, 20),
			distances{first: []int64{0}, gaps: []int64{0}, all: []int64{0, 0}, rate: 1e8}, ""},
		{"an event too few", journal(10, 20), window(11), distances{}, "request a: 2 events were sent and 1 seen"},
		{"a request too many", nil, window(10), distances{}, "request a: 0 events were sent and 1 seen"},
		{"nothing of both", nil, window(), distances{}, "request a: 0 events were sent and 0 seen"},
	} {
		got, err := compare(tt.sent, tt.seen)
		assert.Equal(t, tt.want, got, tt.what)
		if tt.err != "" {
			assert.EqualError(t, err, tt.err, tt.what)
		} else {
			assert.NoError(t, err, tt.what)
		}
	}
}

// What must not be is said: a verdict that comes too soon, or not at all, and
// errors above the limit.
func TestWhatATruthMustNotShow(t *testing.T) {
	run := func(verdict string, busy, others, ttft, itl float64) turn {
		return turn{host: host{busy: busy, others: others}, verdict: verdict, reasons: "why", first: [3]float64{1, ttft, 1}, gaps: [3]float64{1, itl, 1}}
	}
	for _, tt := range []struct {
		what string
		row  row
		want string
	}{
		{"all as it must be", row{turns: []turn{run("ok", 0.5, 0.05, 2e5, 1e5)}}, ""},
		{"a limit too soon", row{turns: []turn{run("ok", 0.5, 0, 0, 0), run("client-limited", 0.5, 0, 0, 0)}},
			"0x0 was client-limited while the host was calm: why"},
		{"a limit on a host that is full", row{turns: []turn{run("client-limited", 0.9, 0, 1e9, 1e9)}}, ""},
		{"a limit on a host with other things to do", row{turns: []turn{run("client-limited", 0.5, 0.2, 1e9, 1e9), run("ok", 0.5, 0, 1, 1)}}, ""},
		{"errors too large", row{turns: []turn{run("ok", 0.5, 0, 200_001, 300_000)}},
			"0x0: the p99 of TTFT error is 200.001µs, want at most 200µs\n0x0: the p99 of ITL error is 300µs, want at most 200µs"},
		{"an overload that is seen", row{over: 2, turns: []turn{{verdict: "client-limited"}, {verdict: "client-limited"}}}, ""},
		{"an overload that is not always", row{over: 2, turns: []turn{{verdict: "client-limited"}, {verdict: "ok"}}},
			"0x0 at 2x what its CPU can do was client-limited 1 times of 2, want every time"},
	} {
		err := tt.row.wrong(200 * time.Microsecond)
		if tt.want == "" {
			assert.NoError(t, err, tt.what)
		} else {
			assert.EqualError(t, err, tt.want, tt.what)
		}
	}
}

func TestWhatALagMustNotShow(t *testing.T) {
	good := func() *lagRow {
		return &lagRow{
			name: "poisson", burstiness: 1, turns: []lagTurn{{
				host: host{busy: 0.2}, requests: 10_000, achieved: 1, sent: [3]float64{40, 300, 900}, sentCV2: 1.05, verdict: "ok",
			}},
		}
	}
	for what, tt := range map[string]struct {
		change func(*lagRow)
		want   string
	}{
		"all as it must be":           {func(*lagRow) {}, ""},
		"late":                        {func(r *lagRow) { r.turns[0].sent[1] = 301 }, "poisson: the p99 of lag is 301 µs, want at most 300µs"},
		"too few":                     {func(r *lagRow) { r.turns[0].achieved = 0.9989 }, "poisson: achieved ÷ offered is 0.9989, want at least 0.999"},
		"bunched":                     {func(r *lagRow) { r.turns[0].sentCV2 = 1.07 }, "poisson: the squared variation of gaps as sent is 1.070, want 1.000 ± 0.060"},
		"limited":                     {func(r *lagRow) { r.turns[0].verdict = "client-limited" }, "poisson: the client's verdict was client-limited"},
		"late on a host that is busy": {func(r *lagRow) { r.turns[0].sent[1], r.turns[0].busy = 301, 0.9 }, ""},
	} {
		r := good()
		tt.change(r)
		if err := r.wrong(300 * time.Microsecond); tt.want == "" {
			assert.NoError(t, err, what)
		} else {
			assert.EqualError(t, err, tt.want, what)
		}
	}
}

// What went wrong is said, and nothing of what did not.
func TestFailuresAreSaid(t *testing.T) {
	assert.EqualError(t, truth([]string{"-clients", "none"}), `-clients: no client "none": there are openai and openai-net/http`)
	assert.EqualError(t, truth([]string{"-loads", "many"}), `-loads: "many" is not streams x events/s`)
	err := streams([]string{"-streams", "1", "-clients", "none"})
	require.ErrorContains(t, err, "exit status 1")
	assert.NotContains(t, err.Error(), "%!w")
}

func TestMedian(t *testing.T) {
	assert.Equal(t, 2.0, median([]float64{3, 1, 2}))
	assert.Equal(t, 2.5, median([]float64{4, 3, 1, 2}))
}
