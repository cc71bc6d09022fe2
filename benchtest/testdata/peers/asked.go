//go:build linux

package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// asked reads what was asked for.
func asked(args []string) (*comparison, error) {
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	c := &comparison{}
	var loads, only string
	flags.StringVar(&c.Peers, "peers", "", "folder of the peers' virtual environments")
	flags.StringVar(&c.VLLM, "vllm", "vllm", "the vllm command")
	flags.StringVar(&c.Tokenizer, "tokenizer", "", "folder of the tokenizer")
	flags.StringVar(&loads, "loads", "5x64,50x64,200x64,78x640", "requests/s x tokens of each reply")
	flags.Float64Var(&c.seconds, "seconds", 20, "length of a load; a load of few requests is longer")
	flags.IntVar(&c.repeats, "repeats", 3, "runs of each client at each load")
	flags.StringVar(&only, "only", "", "names of clients, with commas between: no others are installed or measured; empty is all")
	flags.Float64Var(&c.rate, "events", 50, "events/s of each stream")
	flags.DurationVar(&c.first, "first", 50*time.Millisecond, "the server's time from a request to its first event")
	flags.Float64Var(&c.floor, "floor", 500, "requests/s without a stream, for the floor, of wrk and hey; 0 is none, and installs neither")
	flags.StringVar(&c.dir, "dir", "", "folder for what the clients write; empty is a temporary one")
	flags.Parse(args)
	err := c.positive()
	if err != nil {
		return nil, err
	}
	if c.loads, err = parseLoads(loads, c.seconds); err != nil {
		return nil, err
	}
	if only != "" {
		c.only = strings.Split(only, ",")
	}
	for _, name := range c.only {
		if !slices.ContainsFunc(c.all(), func(cl client) bool { return cl.is(name) }) {
			return nil, fmt.Errorf("-only: no client is called %q: %s", name, strings.Join(c.called(), ", "))
		}
	}
	c.Self, err = os.Executable()
	return c, err
}

// positive refuses lengths, rates and numbers of runs of which nothing would come.
func (c *comparison) positive() error {
	for _, f := range []struct {
		name  string
		value float64
	}{{"seconds", c.seconds}, {"repeats", float64(c.repeats)}, {"events", c.rate}} {
		if !(f.value > 0) {
			return fmt.Errorf("-%s must be above 0, got %v", f.name, f.value)
		}
	}
	return nil
}

// all are the clients that there are, those of the floor only where that is asked
// for; ours is there once.
func (c *comparison) all() []client {
	all := clients(c.places)
	if c.floor > 0 {
		all = append(all, floorClients(c.places)[1:]...)
	}
	return all
}

// called are their names.
func (c *comparison) called() (names []string) {
	for _, cl := range c.all() {
		names = append(names, cl.Name)
	}
	return names
}

// is reports whether a client is called so, in whatever letters, or its package is.
func (cl client) is(name string) bool {
	name = strings.TrimSpace(name)
	return strings.EqualFold(cl.Name, name) || cl.Package != "" && strings.EqualFold(cl.Package, name)
}

// wanted reports whether a client is asked for.
func (c *comparison) wanted(cl client) bool {
	return len(c.only) == 0 || slices.ContainsFunc(c.only, cl.is)
}

// needs prints the packages that a comparison needs, one a line.
func needs(args []string) error {
	c, err := asked(args)
	if err != nil {
		return err
	}
	for _, name := range c.packages() {
		fmt.Println(name)
	}
	return nil
}

// packages are what .ci/peers installs for it.
func (c *comparison) packages() (names []string) {
	for _, cl := range c.all() {
		if cl.Package != "" && c.wanted(cl) {
			names = append(names, cl.Package)
		}
	}
	return names
}

// around is what a run takes beside its load, about: the server, and a client that
// loads much of Python, makes prompts and reports.
const around = 25 * time.Second

// takes is how long all runs take, about.
func (c *comparison) takes(streaming, floor int) time.Duration {
	all := time.Duration(floor) * time.Duration(c.seconds/2*float64(time.Second))
	for _, l := range c.loads {
		run := float64(l.Requests)/l.Rate + c.first.Seconds() + float64(l.Tokens-1)/c.rate
		all += time.Duration(streaming) * (around + time.Duration(run*float64(time.Second)))
	}
	return time.Duration(c.repeats) * all
}

func parseLoads(text string, seconds float64) (loads []load, err error) {
	const least = 100 // requests
	for _, s := range strings.Split(text, ",") {
		rate, tokens, ok := strings.Cut(s, "x")
		var l load
		var wrong, bad error
		l.Rate, wrong = strconv.ParseFloat(rate, 64)
		l.Tokens, bad = strconv.Atoi(tokens)
		if !ok || wrong != nil || bad != nil || l.Rate <= 0 || l.Tokens < 2 {
			return nil, fmt.Errorf("-loads: %q is not like 50x64, requests/s above 0 and tokens above 1", s)
		}
		l.Requests = max(int(math.Round(l.Rate*seconds)), least)
		loads = append(loads, l)
	}
	return loads, nil
}
