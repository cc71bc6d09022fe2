package benchtest

import (
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

// sentReadings are those of what was sent and when.
func (j *judge) sentReadings(into map[string]float64) {
	s := sentOf(j.window)
	if len(s.lags) == 0 {
		return
	}
	into["lag_p50_sec"], into["lag_p99_sec"], into["lag_max_sec"] = s.lag(0.5).Seconds(), s.lag(0.99).Seconds(), s.lag(1).Seconds()
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
