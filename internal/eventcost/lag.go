//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/internal/nullserver"
)

// leastAchieved is the smallest achieved ÷ offered rate that lag lets pass.
const leastAchieved = 0.999

// bunching is how far the squared variation of gaps as sent may be from that of
// the plan, as a share of it, or of a Poisson process's where that is larger. At
// 2,000/s 1 % of requests that are 0.8 ms late make so much: 2 × 0.01 × (0.8 ÷
// 0.5)².
const bunching = 0.05

// lag prints how late short requests leave over HTTP, by the client's account
// and by the server's, what was achieved of what was offered, and how the gaps
// as sent are dispersed.
func lag(args []string) error {
	flags := flag.NewFlagSet("lag", flag.ContinueOnError)
	rate := flags.Float64("rate", 2000, "requests/s")
	window := flags.Duration("window", 5*time.Second, "length of a run's window")
	turns := flags.Int("turns", 3, "runs of each row")
	var calm patience
	flags.DurationVar(&calm.left, "patience", 0, "how long to wait, in all, for a host that is busy with other things; 0 does not")
	want := flags.Duration("want", 0, "fail when the median p99 of lag is above, when less than 0.999 of the offered rate is achieved, "+
		"or the gaps as sent are not dispersed as planned; 0 does not")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *turns < 1 || !(*rate > 0) || *window <= 0 {
		return fmt.Errorf("-turns must be from 1 on and -rate and -window positive, got %d, %v and %v", *turns, *rate, *window)
	}
	rows := []*lagRow{{name: "constant"}, {name: "poisson", burstiness: 1}, {name: "gamma 0.25", burstiness: 0.25}}
	for i := range *turns {
		for _, r := range rows {
			if err := calm.wait(); err != nil {
				return err
			}
			if err := r.run(*rate, *window, uint64(i+1)); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%v short requests/s (a prompt of 16 tokens, a reply of one event) for %v, %d turns of each row, medians (max: the largest) of the turns in which the host was calm where there were any (a thread of the client waited %v for a CPU at most, on average, in bursts %v); "+
		"the client is benchtest.Run on engines/openai, in a process of its own, as the server is\n\n", *rate, *window, *turns, calmSteady, calmWait)
	fmt.Printf("%-11s %6s %8s %7s %6s %6s  %-24s %-24s %9s  %-37s %s\n", "arrivals", "calm", "requests", "waited", "server", "client", "lag as sent, µs", "lag at the server, µs", "achieved", "squared variation of gaps", "verdict, all turns")
	quantile := fmt.Sprintf("%-24s", "   p50     p99     max")
	fmt.Printf("%-11s %6s %8s %7s %6s %6s  %s %s %9s  %-37s\n", "", "turns", "a turn", "µs each", "CPUs", "CPUs", quantile, quantile, "÷ offered", " asked ±     planned   sent  at server")
	var wrong []error
	for _, r := range rows {
		fmt.Print(r.line())
		if *want > 0 {
			wrong = append(wrong, r.wrong(*want))
		}
	}
	fmt.Println("\n± is one standard error of one turn: by chance alone a schedule is that far from what was asked. As sent and at the server are to be compared with what was planned.")
	return settled(wrong)
}

// lagRow is one arrival process, in turns.
type lagRow struct {
	name       string
	burstiness float64 // 0 is constant

	turns []lagTurn
}

// lagTurn is one run of a row.
type lagTurn struct {
	host
	requests, achieved        float64
	sent, seen                [3]float64 // p50, p99, max, in µs
	planned, sentCV2, seenCV2 float64
	verdict                   string
}

func (r *lagRow) run(rate float64, window time.Duration, seed uint64) error {
	s, err := startServer(nullserver.Options{Usage: true, Journal: true})
	if err != nil {
		return err
	}
	out, err := runOffer(load{
		URL: s.URL, Burstiness: r.burstiness, Rate: rate, Tokens: 1, Settle: int(rate / 2), Window: window, Seed: seed,
	}, confinement{})
	journal, stopped := s.Stop()
	if err := errors.Join(err, stopped); err != nil {
		return err
	}
	if out.Failed != "" {
		return fmt.Errorf("%s: a request failed: %s", r.name, out.Failed)
	}
	return r.add(journal, out, s.CPU().Seconds()/float64(max(len(journal), 1))*rate)
}

// add takes in one run, whose server took so many CPUs.
func (r *lagRow) add(journal []nullserver.Request, out offered, server float64) error {
	arrived := map[string]int64{}
	for _, q := range journal {
		arrived[q.ID] = q.Arrival
	}
	var due, sent, seen []time.Duration
	var late, later []float64
	for _, a := range out.Window {
		at, ok := arrived[a.ID]
		if !ok {
			return fmt.Errorf("%s: the server has seen no request %s", r.name, a.ID)
		}
		begin := out.Window[0].Due
		due, sent, seen = append(due, time.Duration(a.Due-begin)), append(sent, time.Duration(a.Sent-begin)), append(seen, time.Duration(at-begin))
		late, later = append(late, float64(a.Sent-a.Due)/1e3), append(later, float64(at-a.Due)/1e3)
	}
	if len(due) == 0 {
		return fmt.Errorf("%s: the window has no request: make it longer", r.name)
	}
	slices.Sort(sent)
	slices.Sort(seen)
	three := func(v []float64) [3]float64 {
		slices.Sort(v)
		n := len(v)
		return [3]float64{v[n/2], v[min(n*99/100, n-1)], v[n-1]}
	}
	r.turns = append(r.turns, lagTurn{
		host: hostOf(out, server, r.limit()), requests: float64(len(due)), achieved: reading(out, "achieved"),
		sent: three(late), seen: three(later),
		planned: arrival.GapCV2(due), sentCV2: arrival.GapCV2(sent), seenCV2: arrival.GapCV2(seen), verdict: out.Verdict,
	})
	return nil
}

// asks is the squared coefficient of variation of the process's gaps, and the
// standard error of that of so many of them: √((2c² + 2c³)/n) by the delta
// method, for gamma gaps of squared variation c.
func (r *lagRow) asks() (c2, se float64) {
	if r.burstiness == 0 {
		return 0, 0
	}
	c2 = 1 / r.burstiness
	n := medianOf(r.turns, func(t lagTurn) float64 { return t.requests })
	return c2, math.Sqrt((2*c2*c2 + 2*c2*c2*c2) / n)
}

// limit is how long a thread may wait for a CPU where the host is calm.
func (r *lagRow) limit() time.Duration {
	if r.burstiness > 0 && r.burstiness < 1 {
		return calmWait
	}
	return calmSteady
}

func (r *lagRow) line() string {
	runs, calm := judged(r.turns)
	calmTurns := 0
	if calm {
		calmTurns = len(runs)
	}
	mid := func(of func(lagTurn) float64) float64 { return medianOf(runs, of) }
	three := func(of func(lagTurn) [3]float64) string {
		most := 0.0
		for _, t := range runs {
			most = max(most, of(t)[2])
		}
		return fmt.Sprintf("%7.0f %7.0f %7.0f ", mid(func(t lagTurn) float64 { return of(t)[0] }), mid(func(t lagTurn) float64 { return of(t)[1] }), most)
	}
	c2, se := r.asks()
	return fmt.Sprintf("%-11s %6s %8.0f %7.1f %6.2f %6.2f  %s %s %9.4f  %6.3f ± %-6.3f %7.3f %7.3f %7.3f  %s\n",
		r.name, fmt.Sprintf("%d/%d", calmTurns, len(r.turns)), mid(func(t lagTurn) float64 { return t.requests }),
		mid(func(t lagTurn) float64 { return float64(t.wait) / 1e3 }), mid(func(t lagTurn) float64 { return t.server }), mid(func(t lagTurn) float64 { return t.client }),
		three(func(t lagTurn) [3]float64 { return t.sent }), three(func(t lagTurn) [3]float64 { return t.seen }),
		mid(func(t lagTurn) float64 { return t.achieved }), c2, se, mid(func(t lagTurn) float64 { return t.planned }),
		mid(func(t lagTurn) float64 { return t.sentCV2 }), mid(func(t lagTurn) float64 { return t.seenCV2 }),
		verdicts(r.turns, func(t lagTurn) string { return t.verdict }))
}

// wrong is what the row shows that it must not.
func (r *lagRow) wrong(want time.Duration) error {
	var wrong []error
	runs, calm := judged(r.turns)
	if !calm {
		return neverCalm(r.name, len(r.turns), r.limit())
	}
	mid := func(of func(lagTurn) float64) float64 { return medianOf(runs, of) }
	if p99 := mid(func(t lagTurn) float64 { return t.sent[1] }); !(p99 <= float64(want)/1e3) {
		wrong = append(wrong, fmt.Errorf("%s: the p99 of lag is %.0f µs, want at most %v", r.name, p99, want))
	}
	if achieved := mid(func(t lagTurn) float64 { return t.achieved }); !(achieved >= leastAchieved) {
		wrong = append(wrong, fmt.Errorf("%s: achieved ÷ offered is %.4f, want at least %v", r.name, achieved, leastAchieved))
	}
	planned, sent := mid(func(t lagTurn) float64 { return t.planned }), mid(func(t lagTurn) float64 { return t.sentCV2 })
	if limit := bunching * max(1, planned); !(math.Abs(sent-planned) <= limit) {
		wrong = append(wrong, fmt.Errorf("%s: the squared variation of gaps as sent is %.3f, want %.3f ± %.3f, as planned", r.name, sent, planned, limit))
	}
	for _, t := range runs {
		if t.verdict != metric.ClientOK {
			wrong = append(wrong, fmt.Errorf("%s: the client's verdict was %s", r.name, t.verdict))
		}
	}
	return errors.Join(wrong...)
}
