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
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "eventcost:", err)
		os.Exit(1)
	}
}
