package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// What a calibration does: requests of one event, some at a time, and then
// streams whose events come one by one, as tokens do.
const (
	calibrateRequests, calibrateAtOnce = 240, 8
	calibrateStreams, calibrateEvents  = 64, 32
	calibrateEvery                     = 2 * time.Millisecond
	calibrateLimit                     = 10 * time.Second
	// calibrateDescriptors are those of its streams at both ends, and of the
	// client's a second one while a connection is taken over.
	calibrateDescriptors = 3 * calibrateStreams
)

var errCalibrateLong = fmt.Errorf("it was not done within %v: this host is too busy to tell what a client costs", calibrateLimit)

// Calibrate implements engines.Calibrator for plain HTTP over the loopback
// device. The writes of its server's events are left out where the system
// counts CPU time by threads; its reading of requests is in the cost. A host
// that has no descriptors for it is an *engines.Error of class Client, at once.
func (*Engine) Calibrate(parent context.Context) (engines.Cost, error) {
	cost, err := calibrate(parent)
	if err != nil {
		return engines.Cost{}, fmt.Errorf("calibrate the client: %w", err)
	}
	return cost, nil
}

// calibrate is Calibrate, after it has been seen whether this host has room for
// it: a server that cannot take a connection lets its clients wait.
func calibrate(parent context.Context) (engines.Cost, error) {
	what := fmt.Sprintf("%d streams to a server of this process", calibrateStreams)
	if err := descriptorRoom(what, calibrateDescriptors); err != nil {
		return engines.Cost{}, &engines.Error{Class: engines.Client, Message: err.Error(), Err: err}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return engines.Cost{}, ranOut(err)
	}
	return calibrateAt(parent, l)
}

// ranOut is an error of the calibration's server: a fault of this host, with
// what to do, where it ran out of something.
func ranOut(err error) error {
	if !exhausted(err) {
		return err
	}
	return &engines.Error{Class: engines.Client, Message: outOfIt(err, "the URL"), Err: err}
}

// calibrateAt is calibrate with a server that listens there.
func calibrateAt(parent context.Context, l net.Listener) (cost engines.Cost, err error) {
	bounded, cancel := context.WithTimeoutCause(parent, calibrateLimit, errCalibrateLong)
	defer cancel()
	ctx, fail := context.WithCancelCause(bounded)
	defer fail(nil)
	server := newIdle(l, func(err error) { fail(ranOut(err)) })
	defer server.close()
	client, err := New(Config{URL: "http://" + l.Addr().String(), Model: "null"})
	if err != nil {
		return cost, err
	}
	defer client.Close()
	if err := client.ask(ctx, calibrateAtOnce, calibrateAtOnce, 1); err != nil { // opens the connections
		return cost, err
	}
	from, known := cpuTime()
	if !known {
		return cost, errors.New("this system does not tell the CPU time of a process")
	}
	if err := client.ask(ctx, calibrateRequests, calibrateAtOnce, 1); err != nil {
		return cost, err
	}
	to, _ := cpuTime()
	cost.Request = (to - from) / calibrateRequests

	// Streams: what they take apart from their events was just measured.
	if err := client.ask(ctx, calibrateStreams, calibrateStreams, 1); err != nil {
		return cost, err
	}
	from, _ = cpuTime()
	if err := client.ask(ctx, calibrateStreams, calibrateStreams, calibrateEvents); err != nil {
		return cost, err
	}
	to, _ = cpuTime()
	events := to - from - server.sending() - calibrateStreams*cost.Request
	cost.Event = max(0, events/(calibrateStreams*calibrateEvents))
	return cost, nil
}

// ask makes n generations of so many events, some at a time. The first that
// fails ends the others.
func (e *Engine) ask(parent context.Context, n, atOnce, events int) error {
	origin := time.Now()
	err := several(parent, n, atOnce, func(ctx context.Context) error {
		r := engines.Request{
			ID: "calibrate", Text: "calibrate", MaxTokens: events,
			Stamp: func() time.Duration { return time.Since(origin) },
		}
		got := 0
		_, err := e.Generate(ctx, &r, func(c engines.Chunk) {
			if c.Token {
				got++
			}
		})
		if err == nil && got != events {
			err = fmt.Errorf("%d events came, want %d", got, events)
		}
		return err
	})
	if parent.Err() != nil { // which is why they failed
		return context.Cause(parent)
	}
	return err
}

// sender writes the events of all streams from a thread of its own, whose CPU
// time can be told from the client's.
func (s *idle) sender() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.sent)
	var streams []*idleStream
	next := time.Now()
	for {
		if len(streams) == 0 {
			st, open := <-s.streams
			if !open {
				return
			}
			streams, next = append(streams, st), time.Now()
		}
		from, _ := threadTime()
		for more := true; more; {
			select {
			case st, open := <-s.streams:
				if more = open; open {
					streams = append(streams, st)
				}
			default:
				more = false
			}
		}
		streams = s.round(streams)
		to, _ := threadTime()
		s.spent.Add(int64(to - from))
		next = next.Add(calibrateEvery)
		time.Sleep(time.Until(next))
	}
}
