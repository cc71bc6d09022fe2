//go:build linux

// Eventcost measures what the client of this module costs and how true its
// times are, with the server in a process of its own:
//
//	go run ./internal/eventcost cost    # CPU per streamed event, as a ratio to a floor
//	go run ./internal/eventcost truth   # times against the server's own stamps, and the verdict under overload
//	go run ./internal/eventcost lag     # how late short requests leave, and what was achieved of what was offered
//	go run ./internal/eventcost streams # many streams at once: memory, nothing lost
//
// cost needs a C compiler for its floor (testdata/floor.c), or -floor with a
// program that takes HOST PORT STREAMS PATH and prints "events N".
//
// The exit status is 1 where what was wanted does not hold, 2 on bad usage, and
// 75 where something could not be judged, as on a host that is busy, and nothing
// else is wrong.
//
// Every number is of a process: user and system time of all its threads, from
// its start to its end, as the kernel counts it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// commands are the words that may follow. Serve, read, offer and burn are for
// the processes that the others start.
var commands = map[string]func([]string) error{
	"cost": cost, "truth": truth, "lag": lag, "streams": streams,
	"serve": serve, "read": read, "offer": offer, "burn": burn,
}

// exitUnjudged is EX_TEMPFAIL of sysexits.h: try again.
const exitUnjudged = 75

func main() {
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	run := commands[name]
	if run == nil {
		fmt.Fprintln(os.Stderr, "usage: eventcost cost|truth|lag|streams [flags]; each has -h")
		os.Exit(2)
	}
	if err := run(os.Args[2:]); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if errors.As(err, new(unjudged)) {
		fmt.Fprintf(os.Stderr, "eventcost: %v\neventcost %s: NOT JUDGED\n", err, name)
		os.Exit(exitUnjudged)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "eventcost:", err)
		os.Exit(1)
	}
}
