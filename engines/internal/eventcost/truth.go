//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// truth prints how far the times of a client are from the server's own stamps
// of its writes, at several loads.
func truth(args []string) error {
	flags := flag.NewFlagSet("truth", flag.ContinueOnError)
	loads := flags.String("loads", "200x50,1000x50", "streams x events/s of each load")
	seconds := flags.Float64("seconds", 5, "length of a stream")
	step := flags.Bool("step", false, "events of all streams at the same times")
	which := flags.String("clients", "openai,net/http-scan", "clients to compare")
	if err := flags.Parse(args); err != nil {
		return err
	}
	fmt.Printf("%-14s %-16s %9s %9s %6s %6s  %-24s %-24s %-24s\n", "load", "client", "events/s", "asked", "host", "client",
		"TTFT error, µs", "ITL error, µs", "event error, µs")
	fmt.Printf("%-14s %-16s %9s %9s %6s %6s  %s\n", "", "", "", "", "busy", "cores", strings.Repeat(fmt.Sprintf("%-24s ", " p50     p99   p99.9"), 3))
	for load := range strings.SplitSeq(*loads, ",") {
		var n int
		var rate float64
		if _, err := fmt.Sscanf(load, "%dx%g", &n, &rate); err != nil {
			return fmt.Errorf("-loads: %q is not streams x events/s", load)
		}
		for how := range strings.SplitSeq(*which, ",") {
			if err := truthAt(n, rate, max(int(rate**seconds), 2), *step, how); err != nil {
				return err
			}
		}
	}
	return nil
}

func truthAt(n int, rate float64, events int, step bool, how string) error {
	dir, err := os.MkdirTemp("", "eventcost")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	theirs, ours := filepath.Join(dir, "server"), filepath.Join(dir, "client")
	s, err := startServer("-log", theirs, "-events", strconv.Itoa(events), "-rate", fmt.Sprint(rate), "-step="+strconv.FormatBool(step), "-first", "500ms")
	if err != nil {
		return err
	}
	busy := hostBusy()
	o, err := s.runReader("-how", how, "-streams", strconv.Itoa(n), "-log", ours)
	share := busy()
	if _, stopped := s.stop(); err != nil || stopped != nil {
		return errors.Join(err, stopped)
	}
	sent, err := readTimes(theirs)
	if err != nil {
		return err
	}
	seen, err := readTimes(ours)
	if err != nil {
		return err
	}
	e, err := compare(sent, seen)
	if err != nil {
		return err
	}
	fmt.Printf("%-14s %-16s %9.0f %9.0f %5.0f%% %6.2f  %-24s %-24s %-24s\n", fmt.Sprintf("%dx%v", n, rate), how,
		e.rate, float64(n)*rate, 100*share, o.cpu.Seconds()/o.wall.Seconds(),
		quantiles(e.first), quantiles(e.gaps), quantiles(e.all))
	return nil
}

// distances are those of a client's times from the server's, in nanoseconds,
// without their signs.
type distances struct {
	first, gaps, all []int64
	// rate is the events per second that the server sent.
	rate float64
}

// compare puts each event's times together. Nothing may be missing.
func compare(sent, seen map[string][]int64) (d distances, err error) {
	begin, end := int64(math.MaxInt64), int64(0)
	for id, s := range sent {
		begin, end = min(begin, s[0]), max(end, s[len(s)-1])
		c := seen[id]
		if len(c) != len(s) {
			return d, fmt.Errorf("stream %s: %d events were sent and %d seen", id, len(s), len(c))
		}
		for i := range s {
			late := c[i] - s[i]
			if d.all = append(d.all, distance(late)); i == 0 {
				d.first = append(d.first, distance(late))
			} else {
				d.gaps = append(d.gaps, distance(late-(c[i-1]-s[i-1])))
			}
		}
	}
	if len(sent) != len(seen) {
		return d, fmt.Errorf("%d streams were sent and %d seen", len(sent), len(seen))
	}
	d.rate = float64(len(d.all)) / max(float64(end-begin)/1e9, 1e-9)
	return d, nil
}

func distance(n int64) int64 { return max(n, -n) }

func quantiles(v []int64) string {
	slices.Sort(v)
	var b strings.Builder
	for _, q := range []float64{0.5, 0.99, 0.999} {
		i := min(int(q*float64(len(v))), len(v)-1)
		fmt.Fprintf(&b, "%7.1f ", float64(v[i])/float64(time.Microsecond))
	}
	return b.String()
}
