//go:build linux

package killtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	kills = flag.Int("kills", 0, "how many victims to kill; 0 is each ending once with each launcher")
	seed  = flag.Uint64("seed", 0, "which moments; 0 is other ones each time")
)

const (
	// latest is the latest moment at which a victim ends: by then it has
	// measured for a while, and one with few runs is through.
	latest = 6 * time.Second
	// patience is how long what is left may take to go. On a signal servers
	// get 5 s, and a watchdog waits 2 s before it kills.
	patience = 20 * time.Second
	// side is how many victims live at once.
	side = 3
)

// hangupIgnored is asked before anything catches the signal.
var hangupIgnored = signal.Ignored(syscall.SIGHUP)

// tally is what came of the kills of one ending and launcher.
type tally struct {
	name                   string
	kills, clean           int
	reported, stored, last int // last: victims that were through before
	slowest                time.Duration
}

func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("kills test binaries for a while; -short is set")
	}
	var tallies []*tally
	var ways []ending
	for _, e := range endings {
		if e.signal == syscall.SIGHUP && hangupIgnored {
			t.Log("SIGHUP is not tried: it is ignored here, as under nohup, and children inherit that")
			continue
		}
		for _, launcher := range launchers {
			tallies = append(tallies, &tally{name: launcher + ", " + e.name})
			ways = append(ways, e)
		}
	}
	n := *kills
	if n == 0 {
		n = len(ways)
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("%d kills, -seed %d", n, *seed)

	var mu sync.Mutex // of tallies and of t
	slots := make(chan struct{}, side)
	var all sync.WaitGroup
	for i := range n {
		k := i % len(ways)
		launcher, _, _ := strings.Cut(tallies[k].name, ", ")
		p := plan{
			launcher: launcher, habit: habits[random.IntN(len(habits))], ending: ways[k],
			runs: 1000, after: time.Millisecond + time.Duration(random.Int64N(int64(latest))),
		}
		if random.IntN(3) == 0 { // it is hit as it begins or as it ends
			p.runs, p.after = 3, p.after/3
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			kill(t, &mu, tallies[k], p)
		})
	}
	all.Wait()
	report(t, tallies, n)
}

// kill makes one victim, kills it, and looks at what is left.
func kill(t *testing.T, mu *sync.Mutex, sum *tally, p plan) {
	v := start(t, p)
	time.Sleep(p.after) // the moment is what is tried
	v.kill(&p.ending)
	waited := v.cmd.Wait()
	began := time.Now()
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	status := v.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !p.ending.ended(status) {
		complain("it ended with %v (%v)", v.cmd.ProcessState, waited)
	}
	until(func() bool { return len(v.survivors(t))+len(containers(t, v)) == 0 })
	gone := time.Since(began)
	if left := v.survivors(t); len(left) > 0 {
		complain("processes are left: %s", strings.Join(left, ", "))
	}
	if left := containers(t, v); len(left) > 0 {
		complain("containers are left: %s", strings.Join(left, ", "))
	}
	for _, port := range v.ports(t) {
		if !until(func() bool { return free(port) }) {
			complain("port %s is not free", port)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := v.unlocked(ctx); err != nil {
		complain("the lock is held: %v", err)
	}
	records, err := v.records(t)
	reported, stored := v.reported(), len(records)
	if err != nil || stored < reported {
		complain("%d runs were reported finished, and %d are on disk (%v)", reported, stored, err)
	}

	mu.Lock()
	defer mu.Unlock()
	sum.kills++
	sum.reported += reported
	sum.stored += stored
	sum.slowest = max(sum.slowest, gone)
	if status.Exited() && status.ExitStatus() == 0 {
		sum.last++
	}
	if len(wrong) == 0 {
		sum.clean++
		return
	}
	t.Errorf("%s, %s, %d runs, after %v: %s\n%s", sum.name, p.habit, p.runs, p.after, strings.Join(wrong, "; "), v.output.String())
}

// until waits for something, for a while.
func until(is func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

func report(t *testing.T, tallies []*tally, n int) {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "\n%-42s %6s %6s %9s %14s %9s", "ending", "kills", "clean", "through", "runs on disk", "gone in")
	var clean, reported, stored int
	for _, s := range slices.DeleteFunc(tallies, func(s *tally) bool { return s.kills == 0 }) {
		fmt.Fprintf(&text, "\n%-42s %6d %6d %9d %8d/%-5d %8.1fs", s.name, s.kills, s.clean, s.last, s.stored, s.reported, s.slowest.Seconds())
		clean += s.clean
		reported += s.reported
		stored += s.stored
	}
	fmt.Fprintf(&text, "\n%d of %d kills left nothing behind: no process, no container, no port, no lock; %d runs were reported finished, %d are on disk",
		clean, n, reported, stored)
	t.Log(text.String())
}
