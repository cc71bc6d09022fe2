//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// streams prints what many streams at once take, and fails when an event of
// them is lost.
func streams(args []string) error {
	flags := flag.NewFlagSet("streams", flag.ContinueOnError)
	n := flags.Int("streams", 10000, "streams at once")
	rate := flags.Float64("rate", 2, "events/s of each stream")
	events := flags.Int("events", 30, "events of each stream")
	which := flags.String("clients", "openai,openai-net/http", "clients to compare")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for how := range strings.SplitSeq(*which, ",") {
		// All streams are open before the first event of any.
		first := time.Duration(float64(*n)/connectRate*2*float64(time.Second)) + time.Second
		options := stream(*events, *rate, false)
		options.First = first
		s, err := startServer(options)
		if err != nil {
			return err
		}
		o, err := runReader(s.URL, "-how", how, "-streams", strconv.Itoa(*n), "-memory", fmt.Sprintf("%fs", float64(*events) / *rate * 2 / 3))
		_, stopped := s.Stop()
		if err != nil || stopped != nil {
			return errors.Join(err, stopped)
		}
		if o.events != *n**events {
			return fmt.Errorf("%s read %d events of %d", how, o.events, *n**events)
		}
		fmt.Printf("%s: %d streams, %d events, none lost; %.2f µs of CPU an event, the server %.2f\n%s", how, *n, o.events,
			o.perEvent(), s.CPU().Seconds()*1e6/float64(o.events), o.said)
	}
	return nil
}
