//go:build linux

// Peers measures load generators side by side: this project's and those of
// other projects, against one null server in a process of its own, at the same
// offered loads, in turns. What each client costs is read from the processor
// time of its processes; what it says of TTFT and ITL is compared with the
// server's own stamps of the same requests, so that no client is trusted, ours
// included.
//
// The server knows when a request's first bytes reached this host's network
// stack (the kernel's stamp, SO_TIMESTAMPNS) and when it was about to write each
// event. On loopback the first is when the client wrote it and the second when
// the client could read it, but for some microseconds. Every difference beyond
// them is the client's.
//
// It needs Linux. The script .ci/peers installs the peers and runs it:
//
//	peers compare    all clients, all loads, in turns; prints Markdown
//	peers needs      what has to be installed for that, with the same flags
//	peers tokenizer  writes a small tokenizer, which the peers want
//	peers serve      the server; compare starts it
//	peers ours       this project's client; compare starts it
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func([]string) error{
		"compare": compare, "needs": needs, "tokenizer": tokenizer, "serve": serve, "ours": ours,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: peers compare | needs | tokenizer | serve | ours, each with -help")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "peers %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
