//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What a comparison does not ask for is not installed for it.
func TestWhatAComparisonNeeds(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "guidellm aiperf inference-perf hey wrk"},
		{[]string{"-floor", "0"}, "guidellm aiperf inference-perf"},
		{[]string{"-only", "openloop"}, ""},
		{[]string{"-only", "openloop,vllm bench serve"}, ""},
		{[]string{"-only", "openloop, AIPerf"}, "aiperf"},
		{[]string{"-only=GuideLLM,wrk"}, "guidellm wrk"},
		{[]string{"-only", "inference-perf", "-floor", "0"}, "inference-perf"},
	} {
		c, err := asked(test.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.packages(), " "); got != test.want {
			t.Errorf("%v needs %q, want %q", test.args, got, test.want)
		}
	}
}

func TestANameThatNoClientHas(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-only openloop,locust", `-only: no client is called "locust": openloop, vllm bench serve, GuideLLM, AIPerf, inference-perf, hey, wrk (closed loop)`},
		{"-floor 0 -only wrk", `-only: no client is called "wrk": openloop, vllm bench serve, GuideLLM, AIPerf, inference-perf`},
	} {
		if _, err := asked(strings.Fields(test.args)); err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.args, err, test.want)
		}
	}
}

func TestAComparisonOfNothing(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-seconds 0", "-seconds must be above 0, got 0"},
		{"-seconds NaN", "-seconds must be above 0, got NaN"},
		{"-repeats -1", "-repeats must be above 0, got -1"},
		{"-events 0", "-events must be above 0, got 0"},
	} {
		if _, err := asked(strings.Fields(test.args)); err == nil || err.Error() != test.want {
			t.Errorf("%s: error %v, want %s", test.args, err, test.want)
		}
	}
}

// Every run beside its own load takes a while, and the floor half of a load.
func TestHowLongAComparisonTakes(t *testing.T) {
	c, err := asked([]string{"-loads", "50x51", "-seconds", "10", "-repeats", "2"})
	if err != nil {
		t.Fatal(err)
	}
	// 10 s of arrivals, 50 ms to the first event and 50 gaps of 20 ms.
	if got, want := c.takes(3, 2), 2*(3*(around+11050*time.Millisecond)+2*5*time.Second); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if n := len(c.all()); n != 7 {
		t.Errorf("%d clients, want 7, each once", n)
	}
	if !slices.ContainsFunc(c.all(), func(cl client) bool { return cl.is("openloop") }) {
		t.Error("ours is not among them")
	}
}
