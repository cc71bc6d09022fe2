package benchtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// maxStopped is the share of the window for which the garbage collector may
// stop this process by stops of which one is longer than Limits.Wake. Above
// it one event in a hundred may be late by as much.
const maxStopped = 0.01

// client judges this side of the run: whether the load was offered when the
// schedule said, and whether this process could stamp events when they came. It
// adds the problems, and returns the verdict with its reasons.
//
// What decides is lateness, of requests, goroutines and wake-ups, and what was
// offered. How busy the CPUs were explains a verdict and makes none: an engine
// that computes on the same host fills it rightly.
func (j *judge) client() (verdict string, reasons []string) {
	before := len(j.problems)
	var fine, unread []string
	ok := func(format string, args ...any) { fine = append(fine, fmt.Sprintf(format, args...)) }

	s := sentOf(j.window)
	j.capped(s)
	j.ranOut()
	if s.unstamped > 0 {
		j.problem(kindClientUnknown, "%d of %d requests carry no time of sending, so that nobody knows when the load was offered: the engine must call Request.Stamp (engines/enginetest checks it)", s.unstamped, len(j.window))
		unread = append(unread, fmt.Sprintf("%d of %d requests carry no time of sending", s.unstamped, len(j.window)))
	}
	if limit := j.p.Limits.Lag; len(s.lags) > 0 {
		if p99 := s.lag(0.99).Round(time.Microsecond); p99 > limit {
			j.problem(kindClient, "requests left %v late (%s%s), limit %v: this host could not send on time%s; give it more CPU, lower the load or raise Limits.Lag", p99, s.latest("p99 of sent − scheduled over"), j.aside(), limit, j.busy())
		} else {
			ok("requests left %v late (%s%s), limit %v", p99, s.latest("p99 of"), j.aside(), limit)
		}
		j.late(readScheduler, j.p.Limits.Wake, "goroutines of this process waited %v to run (p99)", "events were stamped late", "raise Limits.Wake", ok)
		j.unread(ok)
		j.stamps(ok)
		j.stopped(ok)
	}
	if achieved, known := s.achieved(j.r, j.p); known {
		switch limit := j.p.Limits.Achieved; {
		case achieved+float64(s.capped)/float64(s.planned) >= limit && s.capped > 0:
			// It is the cap's, which is told.
		case achieved >= limit:
			ok("achieved ÷ offered is %.4f, want at least %.3f", achieved, limit)
		case len(s.lags)+s.failed == s.planned && s.took-s.span <= min(DefaultLimits().Lag, j.p.Limits.Lag):
			// What is late by no more than it may be is no lower rate, though in a
			// window of some milliseconds it looks like one. By no more than the
			// default, too: a limit of an hour must not hide a lower rate.
			if s.failed > 0 {
				ok("%d left and %d failed on their way, over %v for %v planned", len(s.lags), s.failed, brief(s.took), brief(s.span))
				break
			}
			ok("all %d were sent, over %v for %v planned", s.planned, brief(s.took), brief(s.span))
		default:
			j.problem(kindClient, "achieved ÷ offered is %.3f (%d of %d sent, over %v for %v planned), want at least %.3f: the numbers are those of the client, not of the server%s; lower the load or give the client more CPU", achieved, len(s.lags), s.planned, brief(s.took), brief(s.span), limit, j.busy())
		}
	}
	if n := j.p.ClientLimit; n > 0 {
		ok("achieved ÷ offered, and bursts as sent, are not told: Point.ClientLimit of %d holds requests back here, as was asked", n)
	}
	return j.verdict(before, fine, append(unread, j.notRead()...))
}

// notRead is what a run on a real clock tells of how late this process was, and
// this one does not.
func (j *judge) notRead() (missing []string) {
	if j.r.Virtual {
		return nil
	}
	for _, r := range []struct{ name, what string }{
		{readScheduler, "how long goroutines of this process waited to run was not read at both edges of the window"},
		{readWake, "how late this process wakes up was not read in the window"},
	} {
		if _, known := j.r.Client.Readings[r.name]; !known {
			missing = append(missing, r.what)
		}
	}
	return missing
}

// verdict is that of the client, from the problems that it added after the
// first so many, what was found fine and what could not be read.
func (j *judge) verdict(before int, fine, unread []string) (verdict string, reasons []string) {
	for _, p := range j.problems[before:] {
		if p.Kind == kindClient || p.Kind == kindCapped {
			reasons = append(reasons, p.Text)
		}
	}
	switch {
	case reasons != nil:
		return metric.ClientLimited, reasons
	case unread != nil:
		return metric.ClientUnknown, append(unread, fine...)
	}
	if busy := j.busy(); busy != "" {
		fine = append(fine, busy[len(" ("):len(busy)-len(")")])
	}
	return metric.ClientOK, fine
}

// late holds a reading of lateness against a limit.
func (j *judge) late(reading string, limit time.Duration, words, harm, remedy string, ok func(string, ...any)) {
	p99, known := j.r.Client.Readings[reading]
	switch {
	case !known:
	case p99 > limit.Seconds():
		j.problem(kindClient, words+", limit %v: %s%s; give this host more CPU or %s", micro(p99), limit, harm, j.busy(), remedy)
	default:
		ok(words+", limit %v", micro(p99), limit)
	}
}

// micro is a reading in seconds, to the microsecond.
func micro(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
}

// stopped holds the stops of the garbage collector against their limit.
func (j *judge) stopped(ok func(string, ...any)) {
	share, known := j.r.Client.Readings[readStoppedShare]
	longest, told := j.r.Client.Readings[readStoppedMax]
	most := "the longest unknown"
	if told {
		most = fmt.Sprintf("%v at most", micro(longest))
	}
	switch {
	case !known:
	case share > maxStopped && (!told || longest > j.p.Limits.Wake.Seconds()):
		j.problem(kindClient, "the garbage collector stopped this process for %s of the window, %s, limits %s and %v: nothing was stamped meanwhile; raise GOGC, or keep less in memory", percent(share), most, percent(maxStopped), j.p.Limits.Wake)
	default:
		ok("the garbage collector stopped this process for %s of the window, %s", percent(share), most)
	}
}

// busy is what is known of the CPUs, in brackets after a space; empty is
// nothing.
func (j *judge) busy() string {
	c := j.r.Client.Readings
	process, a := c[readProcess]
	host, b := c[readHost]
	switch {
	case a && b:
		return fmt.Sprintf(" (this process kept %.2g of its %.3g CPUs busy, and %s of the host's were)", process, c[readCPUs], percent(host))
	case a:
		return fmt.Sprintf(" (this process kept %.2g of its %.3g CPUs busy)", process, c[readCPUs])
	}
	return ""
}

// sent is what was sent of a window, and when.
type sent struct {
	planned, unstamped int
	// failed on their way, and not by this host: they could not be sent to the
	// engine, or were not let go. Capped were refused here, by the point's
	// MaxInFlight.
	failed, capped int
	// lags and times are sorted.
	lags, times []time.Duration
	// span is from the first schedule to the last, took from the first sending
	// to the last.
	span, took time.Duration
}

// A wait for a slot of the limit that the point asks for is no lag, and neither
// is one for a connection: how long that takes, and how many are needed, the
// server and the way to it decide. What this side adds to it, its goroutines and
// wake-ups show.
func sentOf(window []*metric.Timeline) sent {
	s := sent{planned: len(window)}
	var first time.Duration
	for _, t := range window {
		if t.Sent == 0 {
			switch t.Failure {
			case "":
				s.unstamped++
			case string(engines.Client):
			case failCapped:
				s.capped++
			default:
				s.failed++
			}
			continue
		}
		lag, _ := t.Lag()
		ready := max(t.Scheduled, t.Released) + lag
		if first == 0 {
			first = ready
		}
		s.took = max(s.took, ready-first)
		s.lags = append(s.lags, lag)
		s.times = append(s.times, t.Sent)
	}
	if len(window) > 0 {
		s.span = window[len(window)-1].Scheduled - window[0].Scheduled
	}
	slices.Sort(s.lags)
	slices.Sort(s.times)
	return s
}

// lag is a quantile of the lags, by nearest rank; there is at least one.
func (s sent) lag(p float64) time.Duration {
	n := len(s.lags)
	return s.lags[min(n, max(1, int(p*float64(n)+0.999999)))-1]
}

// latest is what the p99 of the lags is of: by nearest rank, of fewer than a hundred
// it is the largest.
func (s sent) latest(p99 string) string {
	if len(s.lags) < 100 {
		p99 = "the latest of"
	}
	return fmt.Sprintf("%s %d", p99, len(s.lags))
}

// achieved is the rate at which requests left, or failed on their way, ÷ the rate
// at which they were due; what the point's MaxInFlight refused has not left. False
// where none was offered: in a closed loop, with a limit on the client's side, of
// fewer than two, and of those due at one instant.
func (s sent) achieved(r *metric.Record, p Point) (float64, bool) {
	if r.InFlight > 0 || p.ClientLimit > 0 || s.planned < 2 || s.span <= 0 || len(s.lags) == 0 {
		return 0, false
	}
	achieved := float64(len(s.lags)+s.failed) / float64(s.planned)
	if s.took > s.span {
		achieved *= s.span.Seconds() / s.took.Seconds()
	}
	return achieved, true
}
