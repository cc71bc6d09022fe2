//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// comparison is what compare was asked for.
type comparison struct {
	places
	loads    []load
	repeats  int
	only     []string
	rate     float64 // events/s of a stream
	first    time.Duration
	floor    float64 // requests/s of the load without streams
	seconds  float64
	dir      string
	measured []measured
}

// compare runs all clients at all loads, in turns, and prints the tables.
func compare(args []string) error {
	c, err := asked(args)
	if err != nil {
		return err
	}
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "peers"); err != nil {
			return err
		}
	}
	say("what the clients write is in %s", c.dir)
	// Interrupted, it ends what it started and prints what it has.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	before := loadAverage()
	c.runAll(ctx)
	c.print(os.Stdout, before)
	return errors.Join(ctx.Err(), c.failed())
}

// failed are the errors of all runs, where no run of any client is left.
func (c *comparison) failed() error {
	var errs []error
	for _, m := range c.measured {
		if m.err == nil {
			return nil
		}
		errs = append(errs, m.err)
	}
	if errs == nil {
		return errors.New("nothing was measured")
	}
	return errors.Join(errs...)
}

// runAll makes all runs, until ctx ends.
func (c *comparison) runAll(ctx context.Context) {
	streaming := c.present(clients(c.places))
	var floor []client
	if c.floor > 0 {
		floor = c.present(floorClients(c.places))
	}
	say("streaming clients: %d, loads: %d, runs of each: %d, which takes about %v; interrupted, it prints what it has",
		len(streaming), len(c.loads), c.repeats, c.takes(len(streaming), len(floor)).Round(10*time.Second))
	for i := range c.repeats {
		for _, l := range c.loads {
			for _, cl := range turn(streaming, i) {
				c.measure(ctx, cl, l, i)
			}
		}
		if c.floor > 0 {
			l := load{Rate: c.floor, Tokens: 1, Requests: int(c.floor * c.seconds / 2)}
			for _, cl := range turn(floor, i) {
				c.measure(ctx, cl, l, i)
			}
		}
	}
}

// turn is the order of the clients in a repeat: every second one backwards.
func turn(all []client, repeat int) []client {
	all = slices.Clone(all)
	if repeat%2 == 1 {
		slices.Reverse(all)
	}
	return all
}

// present is the clients that are asked for and installed. It says what it
// leaves out.
func (c *comparison) present(all []client) []client {
	return slices.DeleteFunc(all, func(cl client) bool {
		if !c.wanted(cl) {
			return true
		}
		if len(cl.Version) == 0 {
			return false
		}
		_, err := exec.LookPath(cl.Version[0])
		if err != nil {
			say("%s is left out: %v", cl.Name, err)
		}
		return err != nil
	})
}

// measured is one run of one client.
type measured struct {
	client string
	load   load
	truth  truth
	said   said
	// truthITL is the truth of what the client calls ITL.
	truthITL dist
	// under is the processor time while the load was on, whole that of the
	// whole run, in seconds.
	under, whole float64
	err          error
}

// measure makes one run of a client, with a server of its own.
func (c *comparison) measure(ctx context.Context, cl client, l load, repeat int) {
	if ctx.Err() != nil {
		return
	}
	m := measured{client: cl.Name, load: l, under: math.NaN(), whole: math.NaN()}
	defer func() {
		c.measured = append(c.measured, m)
		say("%s", m.line())
	}()
	dir := filepath.Join(c.dir, fmt.Sprintf("%d-%s-%d-%s", repeat, number(l.Rate), l.Tokens, strings.ReplaceAll(cl.Name, " ", "-")))
	if m.err = os.MkdirAll(dir, 0o755); m.err != nil {
		return
	}
	rate, first := c.rate, c.first
	if l.Tokens == 1 {
		rate, first = 0, 0 // as soon as the replies that are no streams
	}
	s, err := startServer(context.WithoutCancel(ctx), c.Self, rate, first)
	if m.err = err; err != nil {
		return
	}
	meter, err := c.run(ctx, cl, l, s.URL, dir)
	requests, wrong := s.Stop()
	if m.err = errors.Join(err, wrong); m.err != nil {
		return
	}
	if m.said, m.err = cl.Read(dir); m.err != nil {
		return
	}
	m.truth = truthOf(requests, l.Tokens, m.said.IDs)
	m.truthITL = m.truth.Gaps
	if m.said.Means {
		m.truthITL = m.truth.Means
	}
	all := truthOf(requests, l.Tokens, nil)
	m.under, m.whole = meter.between(all.From, all.To), meter.total()
	m.truth.Events = all.Events
}

// run runs the client to its end and returns its processor time.
func (c *comparison) run(ctx context.Context, cl client, l load, url, dir string) (*meter, error) {
	most := 10*time.Duration(float64(l.Requests)/l.Rate*float64(time.Second)) + 6*time.Minute
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	words := cl.Run(url, dir, l)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	// A group of its own, so that none of it outlives the run.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir, cmd.Env = dir, append(os.Environ(), cl.Env...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	began := nullserver.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m := measure(cmd.Process.Pid, began)
	err = cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	m.end((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	if err != nil {
		return nil, fmt.Errorf("run %s: %w; its last lines: %s", cl.Name, err, tail(log.Name()))
	}
	return m, nil
}

func tail(name string) string {
	text, _ := os.ReadFile(name)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], " | ")
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "--- "+format+"\n", args...) }
