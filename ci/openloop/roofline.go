package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const rooflineUsage = `usage: openloop roofline [flags]

Measures what this host can offer and read, before an engine is rented: how many
requests and events a second, and how many streams at once, by the client and
the driver that measure engines, against a server in a process of its own that
computes nothing. It takes ten seconds or so. The server shares the host, so
against one elsewhere it is rather more.

A step is held when the verdict on the client is ok, by the limits of every run
(see metric.Client): requests leave on time, all of those planned, and nothing
is read late. It is tried twice, and then the climb ends.

exit status: 0 measured, 1 the load of -rate and -tokens is not held, 2 bad
usage, or it cannot be measured

flags:
`

// rooflineFor is how long the steps of a roofline take together, about.
const rooflineFor = 9 * time.Second

func rooflineVerb(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("roofline", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var ask rooflineAsk
	asJSON := flags.Bool("json", false, "write the same as JSON")
	flags.Float64Var(&ask.Rate, "rate", 0, "say whether so many `requests` a second are held")
	flags.IntVar(&ask.Tokens, "tokens", 0, "with so many output `tokens` each, an event a token (default 1)")
	serve := flags.Bool("serve", false, "be the server, until standard input ends")
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
	if *serve {
		return serveNull(os.Stdin, stdout, stderr)
	}
	if err := ask.validate(); err != nil {
		return noRoofline(stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	url, end, err := startNull(ctx)
	if err != nil {
		return noRoofline(stderr, err)
	}
	defer end()
	return tellRoofline(ctx, url, wideStreams, rooflineFor, ask, *asJSON, stdout, stderr)
}

// tellRoofline measures against the server at url and writes what came of it.
func tellRoofline(ctx context.Context, url string, streams int, lasts time.Duration, ask rooflineAsk, asJSON bool, stdout, stderr io.Writer) int {
	r, err := measureRoofline(ctx, url, streams, lasts)
	if err != nil {
		return noRoofline(stderr, err)
	}
	if ask.Rate > 0 {
		r.Asked = r.answer(ask)
	}
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
	if r.Asked != nil && !r.Asked.Held {
		return exitNegative
	}
	return exitOK
}

func noRoofline(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "openloop roofline: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitUnusable
}

// rooflineAsk is a load that is asked about.
type rooflineAsk struct {
	Rate   float64 `json:"requests_per_sec"`
	Tokens int     `json:"tokens"`
}

// validate reports everything that is wrong, and fills in the default.
func (a *rooflineAsk) validate() error {
	var errs []error
	if !(a.Rate >= 0 && a.Rate <= 1e6) {
		errs = append(errs, fmt.Errorf("-rate must be from 0 to 1,000,000 requests a second, got %v", a.Rate))
	}
	if a.Tokens < 0 || a.Tokens > 1e6 {
		errs = append(errs, fmt.Errorf("-tokens must be from 1 to 1,000,000, got %d", a.Tokens))
	}
	if a.Tokens > 0 && a.Rate == 0 {
		errs = append(errs, fmt.Errorf("-tokens %d needs a -rate, as in -rate 20 -tokens 256", a.Tokens))
	}
	a.Tokens = max(a.Tokens, 1)
	return errors.Join(errs...)
}

// serveNull is the process of the server. It ends with its input, so that it
// never outlives who started it.
func serveNull(stdin io.Reader, stdout, stderr io.Writer) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return noRoofline(stderr, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		l.Close()
	}()
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	if err := newNullServer().serve(l); err != nil {
		return noRoofline(stderr, err)
	}
	return exitOK
}
