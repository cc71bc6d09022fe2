//go:build linux

package main

import (
	"context"
	"os"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// serve is the server in a process of its own.
func serve([]string) error { return nullserver.Child(os.Stdin, os.Stdout) }

// startServer starts one.
func startServer(o nullserver.Options) (*nullserver.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return nullserver.Start(context.Background(), o, self, "serve")
}

// stream are the options of streams with running usage, as many events each.
func stream(events int, rate float64, step bool) nullserver.Options {
	return nullserver.Options{Events: events, Rate: rate, Usage: true, Step: step, Spread: !step}
}
