//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// cost prints CPU per streamed event of each client and its ratio to the floor
// on the same server in the same run. Clients take turns, and each turn is put
// against the mean of the floors before and after it.
func cost(args []string) error {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	n := flags.Int("streams", 1000, "streams at once")
	rate := flags.Float64("rate", 50, "events/s of each stream")
	events := flags.Int("events", 250, "events of each stream")
	repeats := flags.Int("repeats", 5, "turns of each client")
	step := flags.Bool("step", false, "events of all streams at the same times")
	floor := flags.String("floor", "", "program that is the floor; empty compiles testdata/floor.c")
	want := flags.Float64("want", 0, "fail when the client's median ratio is above; 0 does not")
	which := flags.String("clients", "openai,openai-net/http,net/http-scan,net/http-json", "clients to compare")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *n < 1 || *events < 1 || *repeats < 1 {
		return fmt.Errorf("-streams, -events and -repeats must be from 1 on, got %d, %d and %d", *n, *events, *repeats)
	}
	if *floor == "" {
		dir, err := os.MkdirTemp("", "eventcost")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if *floor, err = compile(dir); err != nil {
			return err
		}
	}
	s, err := startServer(stream(*events, *rate, *step))
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			s.Stop()
		}
	}()

	names := strings.Split(*which, ",")
	costs, ratios := map[string][]float64{}, map[string][]float64{}
	before, err := runFloor(*floor, s.URL, *n, *n**events)
	if err != nil {
		return err
	}
	costs["floor"] = append(costs["floor"], before.perEvent())
	for i := range *repeats {
		for j := range names {
			name := names[(i+j)%len(names)]
			o, err := runReader(s.URL, "-how", name, "-streams", strconv.Itoa(*n))
			if err != nil {
				return err
			}
			if o.events != *n**events {
				return fmt.Errorf("%s read %d events of %d", name, o.events, *n**events)
			}
			after, err := runFloor(*floor, s.URL, *n, *n**events)
			if err != nil {
				return err
			}
			costs["floor"] = append(costs["floor"], after.perEvent())
			costs[name] = append(costs[name], o.perEvent())
			ratios[name] = append(ratios[name], 2*o.perEvent()/(before.perEvent()+after.perEvent()))
			before = after
		}
	}
	stopped = true
	if _, err := s.Stop(); err != nil {
		return err
	}
	fmt.Printf("CPU per streamed event, %d streams of %v events/s, %d events each, %d turns\n",
		*n, *rate, *events, *repeats)
	fmt.Printf("%-16s %10s %22s %8s %16s\n", "", "µs median", "lowest … highest", "ratio", "lowest … highest")
	for _, name := range append([]string{"floor"}, names...) {
		c, r := costs[name], ratios[name]
		if name == "floor" {
			r = []float64{1}
		}
		fmt.Printf("%-16s %10.2f %14.2f … %5.2f %8.2f %8.2f … %5.2f\n", name,
			median(c), slices.Min(c), slices.Max(c), median(r), slices.Min(r), slices.Max(r))
	}
	served := len(costs["floor"]) * *n * *events
	for _, name := range names {
		served += len(costs[name]) * *n * *events
	}
	each := s.CPU().Seconds() * 1e6 / float64(served)
	fmt.Printf("the server took %.2f µs an event, with its requests: one sender can give about %.0f events/s\n", each, 1e6/each)
	if got := median(ratios[names[0]]); *want > 0 && !(got <= *want) {
		return fmt.Errorf("%s costs %.2f times the floor, want at most %.2f", names[0], got, *want)
	}
	return nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
