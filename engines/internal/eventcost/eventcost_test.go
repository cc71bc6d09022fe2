//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
// beside the server's.
func TestTruthOfAllClients(t *testing.T) {
	for name := range clients {
		assert.NoError(t, truth([]string{"-loads", "20x100", "-seconds", "0.2", "-clients", name}), name)
	}
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
	for _, tt := range []struct {
		what       string
		sent, seen map[string][]int64
		want       distances
		err        string
	}{
		{"late by one and by three", map[string][]int64{"a": {10, 20}}, map[string][]int64{"a": {11, 23}},
			distances{first: []int64{1}, gaps: []int64{2}, all: []int64{1, 3}, rate: 2e8}, ""},
		{"early", map[string][]int64{"a": {10, 20}}, map[string][]int64{"a": {8, 19}},
			distances{first: []int64{2}, gaps: []int64{1}, all: []int64{2, 1}, rate: 2e8}, ""},
		{"an event too few", map[string][]int64{"a": {10, 20}}, map[string][]int64{"a": {11}}, distances{}, "stream a: 2 events were sent and 1 seen"},
		{"a stream too few", map[string][]int64{"a": {10}}, map[string][]int64{}, distances{}, "stream a: 1 events were sent and 0 seen"},
		{"a stream too many", map[string][]int64{"a": {10}}, map[string][]int64{"a": {10}, "b": {}}, distances{}, "1 streams were sent and 2 seen"},
	} {
		got, err := compare(tt.sent, tt.seen)
		if tt.err != "" {
			assert.EqualError(t, err, tt.err, tt.what)
			continue
		}
		assert.NoError(t, err, tt.what)
		assert.Equal(t, tt.want, got, tt.what)
	}
}

// What went wrong is said, and nothing of what did not.
func TestFailuresAreSaid(t *testing.T) {
	for _, err := range []error{
		truth([]string{"-loads", "1x100", "-seconds", "0.02", "-clients", "none"}),
		streams([]string{"-streams", "1", "-clients", "none"}),
	} {
		require.ErrorContains(t, err, "exit status 1")
		assert.NotContains(t, err.Error(), "%!w")
	}
}

func TestMedian(t *testing.T) {
	assert.Equal(t, 2.0, median([]float64{3, 1, 2}))
	assert.Equal(t, 2.5, median([]float64{4, 3, 1, 2}))
}
