//go:build linux

package main

import (
	"encoding/gob"
	"os"
)

// request is one request as the server saw it. Times are by monotonic.
type request struct {
	ID     string // x-request-id
	Path   string
	Asked  int // tokens
	Stream bool
	// Arrival is when the kernel had its first bytes, Sent when each token
	// event, or the whole of a reply that is no stream, was about to be written.
	Arrival int64
	Sent    []int64
	// Whole is true when all of the reply was written.
	Whole bool
	// Fresh is true for the first request of a connection.
	Fresh bool
}

func writeJournal(name string, requests []*request) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := gob.NewEncoder(f).Encode(requests); err != nil {
		return err
	}
	return f.Close()
}

func readJournal(name string) (requests []*request, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return requests, gob.NewDecoder(f).Decode(&requests)
}
