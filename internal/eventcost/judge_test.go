//go:build linux

package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What must not be is said: a verdict that comes too soon, or not at all, and
// errors above the limit.
func TestWhatATruthMustNotShow(t *testing.T) {
	const calm, busy = calmWide, calmWide + 1
	run := func(verdict string, wait time.Duration, ttft, itl float64) turn {
		return turn{host: host{wait: wait, known: true, limit: calmWide}, verdict: verdict, reasons: "why", first: [3]float64{1, ttft, 1}, gaps: [3]float64{1, itl, 1}}
	}
	for _, tt := range []struct {
		what string
		row  row
		want string
	}{
		{"all as it must be", row{turns: []turn{run("ok", calm, 2e5, 1e5)}}, ""},
		{"a limit too soon", row{turns: []turn{run("ok", calm, 0, 0), run("client-limited", calm, 0, 0)}},
			"0x0 was client-limited while the host was calm: why"},
		{"a host that was never calm", row{turns: []turn{run("ok", busy, 1, 1), run("ok", busy, 1, 1)}},
			"0x0: in none of 2 turns was the host calm (a thread waits 50µs for a CPU at most, on average), so this is held against nothing"},
		{"a host of which nothing is known", row{turns: []turn{{verdict: "ok"}}},
			"0x0: in none of 1 turns was the host calm (a thread waits 50µs for a CPU at most, on average), so this is held against nothing"},
		{"no turn at all", row{}, "0x0: in none of 0 turns was the host calm (a thread waits 50µs for a CPU at most, on average), so this is held against nothing"},
		{"errors of nothing", row{turns: []turn{run("ok", calm, math.NaN(), math.NaN())}},
			"0x0: the p99 of TTFT error is NaN µs, want at most 200µs\n0x0: the p99 of ITL error is NaN µs, want at most 200µs"},
		{"an overload of no turns", row{over: 2}, "0x0 at 2x what its CPU can do was client-limited 0 times of 0, want every time"},
		{"a limit on a host with other things to do", row{turns: []turn{run("client-limited", busy, 1e9, 1e9), run("ok", calm, 1, 1)}}, ""},
		{"errors too large", row{turns: []turn{run("ok", calm, 200_001, 300_000)}},
			"0x0: the p99 of TTFT error is 200.001 µs, want at most 200µs\n0x0: the p99 of ITL error is 300.000 µs, want at most 200µs"},
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
				host: host{wait: calmSteady, known: true, limit: calmSteady}, requests: 10_000, achieved: 1, sent: [3]float64{40, 300, 900}, planned: 0.97, sentCV2: 1.019, verdict: "ok",
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
		"bunched":                     {func(r *lagRow) { r.turns[0].sentCV2 = 1.021 }, "poisson: the squared variation of gaps as sent is 1.021, want 0.970 ± 0.050, as planned"},
		"evened out":                  {func(r *lagRow) { r.turns[0].sentCV2 = 0.919 }, "poisson: the squared variation of gaps as sent is 0.919, want 0.970 ± 0.050, as planned"},
		"a constant that is bunched":  {func(r *lagRow) { r.name, r.burstiness, r.turns[0].planned, r.turns[0].sentCV2 = "constant", 0, 0, 0.06 }, "constant: the squared variation of gaps as sent is 0.060, want 0.000 ± 0.050, as planned"},
		"bursts, by their own":        {func(r *lagRow) { r.turns[0].planned, r.turns[0].sentCV2 = 4, 4.19 }, ""},
		"lag that is not known":       {func(r *lagRow) { r.turns[0].sent[1] = math.NaN() }, "poisson: the p99 of lag is NaN µs, want at most 300µs"},
		"nothing achieved is known":   {func(r *lagRow) { r.turns[0].achieved = math.NaN() }, "poisson: achieved ÷ offered is NaN, want at least 0.999"},
		"limited":                     {func(r *lagRow) { r.turns[0].verdict = "client-limited" }, "poisson: the client's verdict was client-limited"},
		"late on a host that is busy": {func(r *lagRow) { r.turns[0].sent[1], r.turns[0].wait = 301, calmSteady+1 }, "poisson: in none of 1 turns was the host calm (a thread waits 15µs for a CPU at most, on average), so this is held against nothing"},
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

// What could not be judged is neither passed nor failed, and hides no failure.
func TestWhatIsSettled(t *testing.T) {
	open, wrong := neverCalm("a", 3, calmWide), errors.New("too late")
	assert.NoError(t, settled([]error{nil, nil}))
	assert.ErrorAs(t, settled([]error{nil, open}), new(unjudged))
	err := settled([]error{open, nil, wrong})
	assert.EqualError(t, err, open.Error()+"\ntoo late")
	assert.False(t, errors.As(err, new(unjudged)))
}

func TestWaits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	sum := func() (waits, error) { return waitsIn(filepath.Join(dir, "*")) }
	_, err := sum()
	assert.ErrorContains(t, err, "the kernel does not count")
	write("1", "0 0 0\n")
	_, err = sum()
	assert.ErrorContains(t, err, "the kernel does not count", "zeros are no wait of zero")
	write("2", "900 30000 2\n")
	write("3", "900 10000 6\n")
	got, err := sum()
	require.NoError(t, err)
	assert.Equal(t, waits{Waited: 40_000, Runs: 8}, got)
	each, known := got.since(waits{Waited: 20_000, Runs: 4}).each()
	assert.Equal(t, 5*time.Microsecond, each)
	assert.True(t, known)
	_, known = waits{}.each()
	assert.False(t, known)
	write("4", "many\n")
	_, err = sum()
	assert.ErrorContains(t, err, "read "+filepath.Join(dir, "4"))
}

// A thread that shares its CPU with busy processes waits for it, and is seen to.
func TestOwnWaitsAreSeen(t *testing.T) {
	set, err := allowed()
	require.NoError(t, err)
	before, err := ownWaits()
	if err != nil {
		t.Skip(err)
	}
	cpus := set.list()
	busy, err := startBurners(1, confined(cpus[0]))
	require.NoError(t, err)
	defer busy.stop()
	require.NoError(t, confined(cpus[0]).within(func() error {
		var w0 waits
		for w0, err = threadWaits(); err == nil; {
			spin() // until the kernel has given the CPU to the other
			w, err := threadWaits()
			if err != nil || w.Waited-w0.Waited > uint64(time.Millisecond) {
				return err
			}
		}
		return err
	}))
	after, err := ownWaits()
	require.NoError(t, err)
	assert.Greater(t, after.Waited-before.Waited, uint64(time.Millisecond))
}
