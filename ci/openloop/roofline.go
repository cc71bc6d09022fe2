package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/openloop-go/openloop/internal/descriptors"
	"github.com/openloop-go/openloop/internal/nullserver"
)

const rooflineUsage = `usage: openloop roofline [flags]

Measures what this host can offer and read, before an engine is rented: how many
requests and events a second, and how many streams at once, by the client and
the driver that measure engines, against a server in a process of its own that
computes nothing. It takes ten seconds, and never more than twelve. The server
shares the host, so against one elsewhere it is rather more.

A step is held when the verdict on the client is ok, by the limits of every run
(see metric.Client): requests leave on time, all of those planned, and events
are stamped on time, where the kernel stamps them also while they lie unread. It
begins well below what the client's cost lets expect, goes up until a step is
not held, and tries for longer, a second and as time allows another, what was;
where that is not held, less. The first step is tried twice where it is not held
at once, since it is this process's first load. What it prints as held was held,
and what it prints beside that was not. What there was no time for is not tried:
then what was held is the least, and in JSON its kind is in ended_for_time, and
null where nothing was held. A host does not hold its most at all times: plan with
the share that is printed. A host whose load average was half its CPUs or more is
called busy.

With -rate it offers that load instead, and nothing else, in streams of
-tokens-per-sec. It takes until all its streams are open, two seconds or ten
requests, and until they end: seconds mostly, and never more than a minute. Longer
streams than 15 s, and fewer than ten requests in 20 s, are not tried: more and
shorter ones are, with as many streams at once and events a second, and it says so.

exit status: 0 measured, or the load is held, 1 the load of -rate is not held by
the client on this host, 2 bad usage, or it cannot be measured, as where the server
is the limit or there is no time for it

flags:
`

// rooflineTime says by when parts of a roofline end, from its beginning.
type rooflineTime struct {
	// requests and events are when no step of these is begun any more.
	requests, events time.Duration
	// hard is when whatever is still on is cut.
	hard time.Duration
	// ask is when a load that is asked about is.
	ask time.Duration
}

// usualTime leaves the last part for the streams at once.
var usualTime = rooflineTime{requests: 3500 * time.Millisecond, events: 6100 * time.Millisecond, hard: 10900 * time.Millisecond, ask: askMost}

// rooflineFirst is where the climbs begin, as shares of what is expected.
type rooflineFirst struct{ requests, events float64 }

// usualFirst has larger steps of events, which take longer, so that there is
// time for fewer.
var usualFirst = rooflineFirst{requests: 0.25, events: 0.5}

// usualGrace is for a step that takes longer than those before it, and
// usualDownwards for a host that is busy.
const usualGrace, usualDownwards = 600 * time.Millisecond, 1900 * time.Millisecond

func rooflineVerb(args []string, stdout, stderr io.Writer) int {
	if slices.Equal(args, serveArgs[1:]) {
		if err := nullserver.Child(os.Stdin, stdout); err != nil {
			return noRoofline(stderr, err)
		}
		return exitOK
	}
	flags := flag.NewFlagSet("roofline", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var ask rooflineAsk
	asJSON := flags.Bool("json", false, "write the same as JSON")
	flags.Float64Var(&ask.Rate, "rate", 0, "offer so many `requests` a second and say whether they are held (default: measure all)")
	flags.IntVar(&ask.Tokens, "tokens", 1, "with so many output `tokens` each, an event a token")
	flags.Float64Var(&ask.Pace, "tokens-per-sec", usualPace, "and so many `tokens` a second in each stream, as the engine is expected to give")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, rooflineUsage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return exitOK
	case err != nil:
		return noRoofline(stderr, err)
	case flags.NArg() > 0:
		return noRoofline(stderr, fmt.Errorf("want flags only, got %q", flags.Args()))
	}
	var set rooflineFlags
	flags.Visit(func(f *flag.Flag) {
		set.rate, set.tokens, set.pace = set.rate || f.Name == "rate", set.tokens || f.Name == "tokens", set.pace || f.Name == "tokens-per-sec"
	})
	if err := errors.Join(ask.validate(set), enoughFiles(descriptors.Limit())); err != nil {
		return noRoofline(stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := startNull(ctx)
	if err != nil {
		return noRoofline(stderr, err)
	}
	m := &rooflineRun{url: server.URL, streams: wideStreams, time: usualTime, grace: usualGrace, first: usualFirst, downwards: usualDownwards, log: stderr}
	defer server.Kill()
	return m.tell(ctx, ask, *asJSON, stdout, stderr)
}

// tell measures and writes what came of it.
func (m *rooflineRun) tell(ctx context.Context, ask rooflineAsk, asJSON bool, stdout, stderr io.Writer) int {
	measure := m.measure
	if ask.Rate > 0 {
		measure = func(ctx context.Context) error { return m.ask(ctx, ask) }
	}
	if err := measure(ctx); err != nil {
		return noRoofline(stderr, err)
	}
	r := &m.out
	if asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(r); err != nil {
			return noRoofline(stderr, err)
		}
	} else {
		fmt.Fprint(stdout, r.text())
	}
	switch {
	case r.Asked != nil && r.Asked.Unknown:
		return noRoofline(stderr, errors.New("whether the load is held is not known, for the reason given with it: against a server elsewhere, or on a host with more CPUs, it may be"))
	case r.Asked != nil && !r.Asked.Held:
		return exitNegative
	case r.Asked == nil && (r.Holds.none() || r.Holds.Streams == nil):
		return noRoofline(stderr, errors.New("of the requests or of the events not one step was held that there was time for, for the reasons under the rows: end what else runs here, or give this process more CPUs"))
	}
	return exitOK
}

func noRoofline(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "openloop roofline: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitUnusable
}

// otherFiles are the descriptors that this process needs besides those of
// streams, and fewestFiles how many there must be.
const otherFiles, fewestFiles = 256, 512

// enoughFiles refuses a number of descriptors that leaves too few for a
// measurement; 0 is unknown.
func enoughFiles(n int) error {
	if n == 0 || n >= fewestFiles {
		return nil
	}
	return fmt.Errorf("each stream is a descriptor, fewer than %d show nothing of this host, 16384 are plenty, and %s", fewestFiles, descriptors.Limited(n))
}

// filesEnd says that a limit of descriptors ends the streams.
func filesEnd(limit int) string {
	return fmt.Sprintf("each stream is a descriptor, %d are for all else, and %s", otherFiles, descriptors.Limited(limit))
}
