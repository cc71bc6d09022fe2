//go:build linux

package main

import (
	"encoding/gob"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/openloop-go/openloop/engines/internal/nullserver"
)

// serve is the server in a process of its own. It prints its address, serves
// until its input ends, writes its log and exits.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	var o nullserver.Options
	listen := flags.String("listen", "127.0.0.1:0", "address")
	flags.IntVar(&o.Events, "events", 500, "events of each stream")
	flags.Float64Var(&o.Rate, "rate", 50, "events/s of each stream")
	flags.DurationVar(&o.First, "first", 0, "time to a stream's first event; 0 is one period")
	flags.BoolVar(&o.Step, "step", false, "events of all streams at the same times")
	flags.BoolVar(&o.Stamped, "stamped", true, "put the send time into each event")
	flags.BoolVar(&o.Close, "close", false, "close each connection after its stream")
	log := flags.String("log", "", "file for the send times, written at the end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.Logged = *log != ""
	s, err := nullserver.New(o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		os.Stdin.Read(make([]byte, 1))
		l.Close()
	}()
	if err := s.Serve(l); err != nil || *log == "" {
		return err
	}
	return writeTimes(*log, s.Log())
}

// writeTimes writes times of events by request, and readTimes reads them.
func writeTimes(name string, times map[string][]int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewEncoder(f).Encode(times)
}

func readTimes(name string) (times map[string][]int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return times, gob.NewDecoder(f).Decode(&times)
}
