package benchtest

import (
	"slices"
	"time"
)

// stamps judges how late events were stamped. Where the transport has not the
// time at which bytes came, how late this process woke up stands for it: a sample
// of its own, of a hundred a second, in which an idle host shows half a
// millisecond now and then. So that has a limit of its own, and what transports
// tell a closer one. It is judged also where requests open connections as a rule,
// which takes some wake-ups.
func (j *judge) stamps(ok func(string, ...any)) {
	harm := "connections were opened as much later"
	if j.stamped() {
		j.late(readStamp, j.p.Limits.Stamp, "events were stamped %v late (p99)", "gaps are wrong by as much, and TTFT where the first event shares its time", "raise Limits.Stamp", ok)
		if !j.dials() {
			return
		}
	} else {
		harm = "events were stamped as late"
	}
	j.late(readWake, j.p.Limits.Wake, "this process woke up %v late (p99)", harm, "raise Limits.Wake", ok)
}

// stamped reports whether the transport has told how late events were stamped. (A
// record that says only how long bytes lay unread is of a version that did not
// tell.)
func (j *judge) stamped() bool {
	_, known := j.r.Client.Readings[readStamp]
	return known
}

// unread tells how long bytes lay unread. They have the times at which they came
// all the same; but who waits for a slot to become free, in a closed loop or
// behind a limit of the client's, is let go as much later.
func (j *judge) unread(ok func(string, ...any)) {
	lay, known := j.r.Client.Readings[readLag]
	switch {
	case !known:
	case j.r.InFlight > 0 || j.p.ClientLimit > 0:
		j.late(readLag, j.p.Limits.Wake, "bytes lay unread for %v (p99)", "slots became free as much later", "raise Limits.Wake", ok)
	default:
		ok("bytes lay unread for %v (p99), and have their times all the same", micro(lay))
	}
}

// stampedLate is how late events were stamped, as the p99 of what that does to
// gaps. An event that was read by itself has its own time, however late that was.
// One that was read together with later bytes has theirs, and makes the gap before
// it too long and the one after it too short, by what the transport says at most.
func (j *judge) stampedLate() time.Duration {
	var lost []time.Duration
	gaps := 0
	for _, t := range j.window {
		if t.ReadLag > 0 {
			gaps += max(0, t.Events-1)
			lost = append(lost, t.Lost...)
		}
	}
	above := gaps / 100
	if above/2 >= len(lost) {
		return 0
	}
	slices.Sort(lost)
	return lost[len(lost)-1-above/2]
}
