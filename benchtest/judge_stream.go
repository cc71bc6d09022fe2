package benchtest

import (
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// batched is the share of gaps of nothing above which events that have a token
// each come in batches: two at a time make half of the gaps nothing.
const batched = 0.40

// stream: whether something held the events back. Below the limit it is a
// warning, where each event has one token: what decodes several at once sends
// them together rightly. Nor is it told of what this process itself read together.
func (j *judge) stream() {
	zero, gaps := 0, 0
	for _, t := range j.readOnTime() {
		zero += t.ZeroGaps
		gaps += max(0, t.Events-1)
	}
	if share := float64(zero) / float64(max(gaps, 1)); share > j.p.Limits.ZeroGaps {
		j.problem(kindBuffered, "%s of %d gaps between events are zero, limit %s: something on the way buffers the stream (a proxy, compression); go round it", percent(share), gaps, percent(j.p.Limits.ZeroGaps))
	} else if late, known := j.r.Client.Readings[readStamp]; share > batched && j.r.GapsAreTokens() && known && late <= j.p.Limits.Stamp.Seconds() {
		j.warn("%s of %d gaps between single tokens are zero: events come in batches, so TTFT is too long and TPOT too short; go round what holds them back (openloop doctor says by how much they are off)", percent(share), gaps)
	}
}

// readOnTime are the requests whose events this process has not put together
// itself, by reading them late. Where it read late by the limits, which makes a run
// client-limited, they are those whose bytes never lay longer than such a stamp may
// be late, if half of all are: fewer do not stand for the run, and a host that makes
// this side late makes a server on it send late too. Where nobody knows which they
// are there are none.
func (j *judge) readOnTime() []*metric.Timeline {
	c, limits := j.r.Client.Readings, j.p.Limits
	late := func(reading string, limit time.Duration) bool { return c[reading] > limit.Seconds() }
	switch {
	case j.stamped() && late(readStamp, limits.Stamp):
		var on []*metric.Timeline
		for _, t := range j.good {
			if t.ReadLag > 0 && t.ReadLag <= limits.Stamp {
				on = append(on, t)
			}
		}
		if 2*len(on) < len(j.good) {
			return nil
		}
		return on
	case !j.stamped() && (late(readWake, limits.Wake) || late(readScheduler, limits.Wake)):
		return nil
	}
	return j.good
}
