//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// truths is what truth was asked for.
type truths struct {
	tokens, turns int
	window, want  time.Duration
	step          bool
	patience      patience
}

// mostSharers bounds the processes that share a CPU.
var mostSharers = 200

// truth prints how far the times of this module's client are from the server's
// own stamps of its writes, and its verdict on itself, at several loads, while
// the host has idle CPU and when the client is given too little.
func truth(args []string) error {
	flags := flag.NewFlagSet("truth", flag.ContinueOnError)
	var t truths
	loads := flags.String("loads", "200x50,1000x50", "streams x events/s of each load")
	over := flags.String("over", "2,4,8", "how many times what the client's CPU can do the last load is to be; empty is none")
	which := flags.String("clients", "openai", "clients to compare: openai, openai-net/http")
	flags.IntVar(&t.tokens, "events", 100, "events of each stream")
	flags.IntVar(&t.turns, "turns", 3, "runs of each row")
	flags.DurationVar(&t.window, "window", 3*time.Second, "length of a run's window")
	flags.BoolVar(&t.step, "step", false, "events of all streams at the same times")
	flags.DurationVar(&t.patience.left, "patience", 0, "how long to wait, in all, for a host that is busy with other things; 0 does not")
	flags.DurationVar(&t.want, "want", 0, "fail when the p99 of TTFT or ITL error of openai is above this while the host is calm, "+
		"when its verdict is not ok then, or is not client-limited in an overload; 0 does not")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if t.turns < 1 || t.tokens < 1 || t.window <= 0 {
		return fmt.Errorf("-turns and -events must be from 1 on and -window positive, got %d, %d and %v", t.turns, t.tokens, t.window)
	}
	var rows []*row
	for _, how := range strings.Split(*which, ",") {
		if how != "openai" && how != "openai-net/http" {
			return fmt.Errorf("-clients: no client %q: there are openai and openai-net/http", how)
		}
		for load := range strings.SplitSeq(*loads, ",") {
			r := &row{how: how}
			if _, err := fmt.Sscanf(load, "%dx%g", &r.streams, &r.rate); err != nil {
				return fmt.Errorf("-loads: %q is not streams x events/s", load)
			}
			rows = append(rows, r)
		}
	}
	fmt.Printf("%d turns of each row, medians of their quantiles, of the turns in which the host was calm where there were any (a thread of the client waited %v for a CPU at most, on average); streams of %d events; the client is benchtest.Run on engines/openai, in a process of its own, as the server is\n\n", t.turns, calmWide, t.tokens)
	fmt.Print(truthHead)
	for i := range t.turns {
		for _, r := range rows {
			if err := t.patience.wait(); err != nil {
				return err
			}
			if err := t.run(r, i, confinement{}, nil); err != nil {
				return err
			}
		}
	}
	for _, r := range rows {
		fmt.Print(r.line())
	}
	var failed []error
	bases := slices.Clone(rows)
	for i, r := range bases {
		if *over == "" || i+1 < len(bases) && bases[i+1].how == r.how {
			continue // the last load of each client
		}
		limited, err := t.overload(r, *over)
		failed = append(failed, err)
		rows = append(rows, limited...)
	}
	return settled(append(failed, t.judge(rows)...))
}

// overload runs the rows whose client has one CPU, which it shares with busy
// processes, while the server has another.
func (t *truths) overload(base *row, factors string) (rows []*row, err error) {
	set, err := allowed()
	if err != nil {
		return nil, err
	}
	cpus := set.list()
	if len(cpus) < 2 {
		return nil, fmt.Errorf("an overload needs two CPUs, one for the server and one for the client: this process may use %d", len(cpus))
	}
	runs, _ := judged(base.turns)
	need := medianOf(runs, func(t turn) float64 { return t.client })
	if !(need > 0) {
		return nil, fmt.Errorf("an overload of %s is a multiple of what the client takes with idle CPU, and it could not be read", base.load())
	}
	ours, theirs := confined(cpus[len(cpus)-1]), confined(cpus[len(cpus)-2])
	for text := range strings.SplitSeq(factors, ",") {
		k, err := strconv.ParseFloat(text, 64)
		if err != nil || !(k >= 1) {
			return nil, fmt.Errorf("-over: %q is no number from 1 on", text)
		}
		sharers := min(int(math.Ceil(k/need)), mostSharers)
		r := &row{how: base.how, streams: base.streams, rate: base.rate, over: k, sharers: sharers, needs: need}
		for i := range t.turns {
			if err := t.patience.wait(); err != nil {
				return nil, err
			}
			busy, err := startBurners(sharers-1, ours)
			if err != nil {
				return nil, err
			}
			err = t.run(r, i, ours, &theirs)
			busy.stop()
			if err != nil {
				return nil, err
			}
		}
		fmt.Print(r.line())
		rows = append(rows, r)
	}
	fmt.Printf("\noverload: the client's process is bound to CPU %d, the server's to CPU %d. With idle CPU the client takes %.2f of one; "+
		"so many busy processes, which are bound to the client's CPU, leave it its equal share of that CPU:\n", cpus[len(cpus)-1], cpus[len(cpus)-2], need)
	for _, r := range rows {
		fmt.Printf("  %gx  %d busy processes: a share of 1/%d, %.3f CPUs, of which the load takes %.1f times as much\n",
			r.over, r.sharers-1, r.sharers, 1/float64(r.sharers), need*float64(r.sharers))
	}
	return rows, nil
}

// run makes one run of a row.
func (t *truths) run(r *row, turn int, client confinement, server *confinement) error {
	o := stream(t.tokens, r.rate, t.step)
	o.Journal = true
	var s *nullserver.Process
	start := func() (err error) {
		s, err = startServer(o)
		return err
	}
	var err error
	if server == nil {
		err = start()
	} else {
		err = server.within(start)
	}
	if err != nil {
		return err
	}
	// Arrivals at equal gaps keep that many streams open, once the first have
	// ended.
	out, err := runOffer(load{
		URL: s.URL, NetHTTP: r.how != "openai", Rate: float64(r.streams) * r.rate / float64(t.tokens), Tokens: t.tokens,
		Settle: r.streams, Window: t.window, Seed: uint64(turn + 1),
	}, client)
	journal, stopped := s.Stop()
	if err := errors.Join(err, stopped); err != nil {
		return err
	}
	return r.add(journal, out, s.CPU())
}

// judge holds openai's rows against what they must show.
func (t *truths) judge(rows []*row) (wrong []error) {
	if t.want == 0 {
		return nil
	}
	for _, r := range rows {
		if r.how != "openai" {
			continue
		}
		wrong = append(wrong, r.wrong(t.want))
	}
	return wrong
}

// wrong is what a row shows that it must not.
func (r *row) wrong(want time.Duration) error {
	var wrong []error
	if r.over > 0 {
		if n := r.count(metric.ClientLimited); n < len(r.turns) || n == 0 {
			wrong = append(wrong, fmt.Errorf("%s at %gx what its CPU can do was client-limited %d times of %d, want every time", r.load(), r.over, n, len(r.turns)))
		}
		return errors.Join(wrong...)
	}
	runs, calm := judged(r.turns)
	if !calm {
		return neverCalm(r.load(), len(r.turns), calmWide)
	}
	for _, t := range runs {
		if t.verdict != metric.ClientOK {
			wrong = append(wrong, fmt.Errorf("%s was %s while the host was calm: %s", r.load(), t.verdict, t.reasons))
		}
	}
	for _, c := range []struct {
		name string
		of   func(turn) float64
	}{{"TTFT", func(t turn) float64 { return t.first[1] }}, {"ITL", func(t turn) float64 { return t.gaps[1] }}} {
		if p99 := medianOf(runs, c.of); !(p99 <= float64(want)) {
			wrong = append(wrong, fmt.Errorf("%s: the p99 of %s error is %.3f µs, want at most %v", r.load(), c.name, p99/1e3, want))
		}
	}
	return errors.Join(wrong...)
}
