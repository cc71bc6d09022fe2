package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// A lateness within the limits that is a large part of what was measured is a
// warning, and one that is nothing of it is not.
func TestTheClientsOwnPart(t *testing.T) {
	const remedy = ": give it more CPU or lower the load; other runs compare only if they are as late (Limits.Lag, Limits.Wake and Limits.Stamp make such runs invalid)"
	late := func(by time.Duration, every int) func(*metric.Record) {
		return func(r *metric.Record) {
			for i := range r.Requests {
				if i%every == 0 {
					r.Requests[i].Sent += by
				}
			}
		}
	}
	for _, c := range []struct {
		name string
		edit func(*metric.Record)
		want []string
	}{
		{"on time", late(0, 1), nil},
		{"a fifth of a TTFT of 20 ms", late(4*time.Millisecond, 1), []string{
			"this host's own lateness is a large part of what was measured: half of the requests left 4ms late, which is 20 % of p50-ttft-sec (20ms); one request in twenty left 4ms late, which is 20 % of p95-ttft-sec (20ms)" + remedy}},
		{"the tail alone", late(4*time.Millisecond, 10), []string{
			"this host's own lateness is a large part of what was measured: one request in twenty left 4ms late, which is 20 % of p95-ttft-sec (20ms)" + remedy}},
		{"as late as any host with idle CPU, of a TTFT of a millisecond", func(r *metric.Record) {
			late(200*time.Microsecond, 1)(r)
			for i := range r.Requests {
				r.Requests[i].FirstToken = r.Requests[i].Scheduled + time.Millisecond
			}
		}, nil},
		{"as late, of half a second", func(r *metric.Record) {
			late(4*time.Millisecond, 1)(r)
			for i := range r.Requests {
				q := &r.Requests[i]
				q.FirstToken, q.LastToken, q.Closed = q.Scheduled+500*time.Millisecond, q.Scheduled+600*time.Millisecond, q.Scheduled+600*time.Millisecond
			}
		}, nil},
		{"gaps of 10 ms, stamped a tenth of it late", func(r *metric.Record) {
			r.Client.Readings[readLag], r.Client.Readings[readStamp] = 990e-6, 990e-6
			for i := range r.Requests {
				r.Requests[i].Events = 12
				for range 11 {
					r.Requests[i].Gaps = append(r.Requests[i].Gaps, 9*time.Millisecond)
				}
			}
		}, []string{
			"this host's own lateness is a large part of what was measured: one event in a hundred was stamped 990µs late, which is 11 % of p99-itl-sec (9ms)" + remedy}},
		{"gaps of 10 ms, and wake-ups a tenth of it late, where the engine does not tell how late events were stamped", func(r *metric.Record) {
			r.Client.Readings[readWake] = 990e-6
			for i := range r.Requests {
				r.Requests[i].Events = 12
				for range 11 {
					r.Requests[i].Gaps = append(r.Requests[i].Gaps, 9*time.Millisecond)
				}
			}
		}, []string{
			"this host's own lateness is a large part of what was measured: one wake-up in a hundred of this process came 990µs late, which is 11 % of p99-itl-sec (9ms)" + remedy}},
		{"invalid, which says more", late(8*time.Millisecond, 1), nil},
		{"in virtual time there is no host", func(r *metric.Record) {
			late(4*time.Millisecond, 1)(r)
			r.Virtual = true
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			r.Client.Readings = map[string]float64{readScheduler: 31e-6}
			c.edit(r)
			_, warnings := Judge(r, Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100})
			assert.Equal(t, c.want, warnings)
		})
	}
}
