//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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
	if testing.Short() {
		t.Skip("it keeps a CPU busy")
	}
	set, err := allowed()
	require.NoError(t, err)
	if len(set.list()) < 2 {
		t.Skip("an overload needs two CPUs")
	}
	before := set
	defer func(most int) { mostSharers = most }(mostSharers)
	mostSharers = 4 // others test on the real clock meanwhile
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

// A floor that reads less than all is none, however little it costs.
func TestAFloorThatReadsTooLittle(t *testing.T) {
	short := filepath.Join(t.TempDir(), "floor")
	require.NoError(t, os.WriteFile(short, []byte("#!/bin/sh\necho events 399\n"), 0o755))
	assert.EqualError(t, cost([]string{"-streams", "20", "-rate", "100", "-events", "20", "-repeats", "1", "-floor", short}),
		"the floor "+short+" read 399 events of 400")
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

// What went wrong is said, and nothing of what did not.
func TestFailuresAreSaid(t *testing.T) {
	assert.EqualError(t, truth([]string{"-clients", "none"}), `-clients: no client "none": there are openai and openai-net/http`)
	assert.EqualError(t, truth([]string{"-loads", "many"}), `-loads: "many" is not streams x events/s`)
	assert.EqualError(t, truth([]string{"-turns", "0"}), "-turns and -events must be from 1 on and -window positive, got 0, 100 and 3s")
	assert.EqualError(t, lag([]string{"-turns", "0"}), "-turns must be from 1 on and -rate and -window positive, got 0, 2000 and 5s")
	assert.EqualError(t, lag([]string{"-rate", "NaN"}), "-turns must be from 1 on and -rate and -window positive, got 3, NaN and 5s")
	assert.EqualError(t, cost([]string{"-repeats", "0"}), "-streams, -events and -repeats must be from 1 on, got 1000, 250 and 0")
	err := streams([]string{"-streams", "1", "-clients", "none"})
	require.ErrorContains(t, err, "exit status 1")
	assert.NotContains(t, err.Error(), "%!w")
}

func TestMedian(t *testing.T) {
	assert.Equal(t, 2.0, median([]float64{3, 1, 2}))
	assert.Equal(t, 2.5, median([]float64{4, 3, 1, 2}))
}
