package benchtest

import (
	"math"
	"slices"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// burstWidth is the interval in which bursts are counted.
const burstWidth = 100 * time.Millisecond

// client writes into the record how true this side was: what was read of it,
// and the verdict. Judge comes to the same one from the record.
func (s *session) client(r *metric.Record, out outcome) {
	j := newJudge(r, s.plan.Point)
	r.Client.Readings = map[string]float64{}
	j.sentReadings(r.Client.Readings)
	out.edges[0].local.readings(out.edges[1].local, r.Client.Readings)
	r.Client.Verdict, r.Client.Reasons = j.client()
}

// readReadings are those of what was read and when, where the engine tells.
//
// Of a request it tells the longest wait of all its events. If the waits of
// events were independent, the longest of n would be below the p99 of one with
// probability 0.99ⁿ; where they come together fewer requests have them, so that
// the median is the least that is taken.
func (j *judge) readReadings(into map[string]float64) {
	var lags []time.Duration
	events, answered := 0, 0
	for _, t := range j.window {
		if t.Events > 0 {
			answered++
		}
		if t.ReadLag > 0 {
			lags = append(lags, t.ReadLag)
			events += t.Events
		}
	}
	if 2*len(lags) < answered || len(lags) == 0 {
		return // told of so few that it is not told of the run
	}
	slices.Sort(lags)
	q := max(0.5, math.Pow(0.99, float64(events)/float64(len(lags))))
	into[readLag] = lags[int(math.Ceil(q*float64(len(lags))))-1].Seconds()
	into[readStamp] = j.stampedLate().Seconds()
}

// connectionReadings are those of the connections that the requests opened. In
// virtual time it is chance which they are, and not recorded.
func (j *judge) connectionReadings(into map[string]float64) {
	if j.r.Virtual {
		return
	}
	opened, waits := j.opened()
	into[readOpened] = float64(opened)
	if !dialled(j.r) {
		into[readClosed] = float64(len(j.ended()))
	}
	if n := len(waits); n > 0 {
		into[readConnect], into[readConnectMax] = waits[(n-1)/2].Seconds(), waits[n-1].Seconds()
	}
}

// sentReadings are those of what was sent and when.
func (j *judge) sentReadings(into map[string]float64) {
	j.connectionReadings(into)
	s := sentOf(j.window)
	if len(s.lags) == 0 {
		return
	}
	into["lag_p50_sec"], into["lag_p99_sec"], into["lag_max_sec"] = s.lag(0.5).Seconds(), s.lag(0.99).Seconds(), s.lag(1).Seconds()
	j.readReadings(into)
	achieved, offered := s.achieved(j.r, j.p)
	if !offered {
		return
	}
	into["achieved"] = achieved
	into["sent_gap_cv2"] = arrival.GapCV2(s.times)
	planned := make([]time.Duration, len(j.window))
	for i, t := range j.window {
		planned[i] = t.Scheduled
	}
	if expected := j.r.Rate * min(burstWidth, j.r.To-j.r.From).Seconds(); expected > 0 {
		into["sent_burst"] = float64(arrival.Burst(s.times, burstWidth)) / expected
		into["planned_burst"] = float64(arrival.Burst(planned, burstWidth)) / expected
	}
}
