//go:build linux

package main

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/fixtures"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// load is what a client's process is to offer, as a user's test does: by
// benchtest.Run on an engine of package openai.
type load struct {
	URL string
	// NetHTTP keeps the client from its own transport.
	NetHTTP bool
	// Burstiness is that of gamma arrivals; 1 is Poisson, and 0 constant gaps.
	Burstiness float64
	Rate       float64 // requests/s
	Tokens     int     // of each reply
	Settle     int     // requests before the window
	Window     time.Duration
	Seed       uint64
}

func (l load) arrivals() arrival.Process {
	switch l.Burstiness {
	case 0:
		return arrival.Constant{Rate: l.Rate}
	case 1:
		return arrival.Poisson{Rate: l.Rate}
	}
	return arrival.Gamma{Rate: l.Rate, Burstiness: l.Burstiness}
}

// offered is what came of it.
type offered struct {
	Verdict  string
	Reasons  []string
	Readings map[string]float64
	// Waits are those of the client's threads, from before the first request to
	// after the last; zero is unknown.
	Waits waits
	// Failed is the first failure of a request of the window; empty is none.
	Failed string
	// Window are the requests of the window.
	Window []asked
}

// drain is how long the last requests of a window are waited for: a client that
// falls behind goes on to open connections meanwhile.
const drain = 5 * time.Second

// asked is one request: when it was due and sent, and its events came, by the
// server's clock.
type asked struct {
	ID        string
	Due, Sent int64
	Events    []int64
}

// offer is a client's process: it reads a load from its argument and writes
// what came of it.
func offer(args []string) error {
	var l load
	if len(args) != 1 {
		return fmt.Errorf("want one load as JSON, got %q", args)
	}
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return err
	}
	config := openai.Config{URL: l.URL, Model: "null"}
	if l.NetHTTP { // a proxy that is none
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	client, err := openai.New(config)
	if err != nil {
		return err
	}
	defer client.Close()
	engine := nullserver.Watch(client)
	settle := l.Settle
	if settle == 0 {
		settle = -1
	}
	before, uncounted := ownWaits()
	runs, err := benchtest.Run(context.Background(), engine, benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(16), Output: fixtures.Fixed(l.Tokens)},
		Arrivals: l.arrivals(), Window: l.Window, Settle: settle, Warmup: -1, Runs: 1, Seed: l.Seed, Cache: benchtest.Warm,
		Drain: drain,
	}, benchtest.Options{})
	if err != nil {
		return err
	}
	r := runs.Records[0]
	out := offered{Verdict: r.Client.Verdict, Reasons: r.Client.Reasons, Readings: r.Client.Readings}
	if after, err := ownWaits(); err != nil || uncounted != nil {
		fmt.Fprintln(os.Stderr, "eventcost:", errors.Join(uncounted, err))
	} else {
		out.Waits = after.since(before)
	}
	for _, t := range r.Counted() {
		if t.Failed() && out.Failed == "" {
			out.Failed = t.Failure + ": " + t.Message
		}
		seen, _ := engine.Seen(t.ID)
		out.Window = append(out.Window, asked{
			ID: t.ID, Due: seen.Origin + int64(t.Scheduled), Sent: seen.Origin + int64(t.Sent), Events: seen.Events,
		})
	}
	return gob.NewEncoder(os.Stdout).Encode(out)
}

// runOffer has a process offer a load, confined as told.
func runOffer(l load, in confinement) (out offered, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return out, err
	}
	cmd := exec.Command(self, "offer", string(text))
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return out, err
	}
	if err := in.start(cmd); err != nil {
		return out, err
	}
	decoded := gob.NewDecoder(pipe).Decode(&out)
	if err := cmd.Wait(); err != nil {
		return out, fmt.Errorf("offer %s: %w", text, err)
	}
	return out, decoded
}
