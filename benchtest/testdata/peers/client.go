//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// load is one open load: Poisson arrivals of requests for a stream of tokens.
type load struct {
	Rate     float64 // requests/s
	Tokens   int     // of each reply
	Requests int
}

func (l load) String() string {
	return fmt.Sprintf("%s req/s × %d tokens", number(l.Rate), l.Tokens)
}

// streams is the number in flight that the load comes to, by Little's law.
func (l load) streams(rate float64, first float64) float64 {
	return l.Rate * (first + float64(l.Tokens-1)/rate)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// said is what a client said of its run, in milliseconds.
type said struct {
	TTFT, ITL dist
	// Requests is how many it says have succeeded.
	Requests int
	// Means is true where its ITL is the distribution of the requests' mean
	// gaps, and false where it is that of all gaps.
	Means bool
	// Closed is true where its loop is closed: it offers no load of its own.
	Closed bool
	IDs    []string // of the requests that it is of; nil is all
	Notes  []string
}

// client is one load generator.
type client struct {
	Name string
	// Package is what .ci/peers installs of it; empty is nothing.
	Package string
	// Version and Run are command lines; Run writes below dir.
	Version []string
	Run     func(url, dir string, l load) []string
	// Env is added to the environment.
	Env  []string
	Read func(dir string) (said, error)
}

// places is where the peers are installed.
type places struct {
	Peers     string // one virtual environment each
	VLLM      string // the command
	Tokenizer string // folder
	Self      string // this program
}

// clients are all that are compared, ours first.
func clients(p places) []client {
	return []client{
		{
			Name: "openloop",
			Run: func(url, dir string, l load) []string {
				return []string{
					p.Self, "ours", "-url", url, "-rate", number(l.Rate), "-requests", strconv.Itoa(l.Requests),
					"-tokens", strconv.Itoa(l.Tokens), "-out", filepath.Join(dir, "report.json"),
				}
			},
			Read: func(dir string) (said, error) {
				var r ourReport
				if err := readJSON(filepath.Join(dir, "report.json"), &r); err != nil {
					return said{}, err
				}
				s := said{TTFT: r.TTFT, ITL: none, Requests: len(r.IDs), IDs: r.IDs, Notes: r.Notes}
				if r.ITL != nil {
					s.ITL = *r.ITL
				}
				return s, nil
			},
		},
		vllmBench(p), guideLLM(p), aiPerf(p), inferencePerf(p),
	}
}

// offline keeps the Python ones from looking for models elsewhere.
var offline = []string{"HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "HF_HUB_DISABLE_TELEMETRY=1", "NO_COLOR=1", "TERM=dumb"}

func readJSON(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// found is the one file that a pattern below dir matches.
func found(dir, pattern string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) != 1 {
		return "", fmt.Errorf("look for %s in %s: %d files, want 1", pattern, dir, len(names))
	}
	return names[0], nil
}

// orNaN keeps a number that a report does not have from being zero.
func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
