package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// What this process read together, since it read late, nothing on the way has
// held back: such a run is client-limited, and may be made again for it.
func TestWhatIsReadLateIsNotBuffered(t *testing.T) {
	const ms = time.Millisecond
	lags := func(r *metric.Record, lag func(i int) time.Duration) {
		for i := range r.Requests {
			r.Requests[i].ReadLag = lag(i)
		}
	}
	for _, c := range []struct {
		name     string
		edit     func(*metric.Record, *Point)
		problems []string
		mayPass  bool
	}{
		{"read on time", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readStamp] = 0.001
			lags(r, func(int) time.Duration { return 80 * ms })
		}, []string{"buffered: 100 % of 900 gaps between events are zero, limit 90 %: something on the way buffers the stream (a proxy, compression); go round it"}, false},
		{"read late, all of it", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readStamp] = 0.03
			lags(r, func(int) time.Duration { return 30 * ms })
		}, []string{"client-limited: events were stamped 30ms late (p99), limit 1ms: gaps are wrong by as much, and TTFT where the first event shares its time; give this host more CPU or raise Limits.Stamp"}, true},
		{"read late, but for half of the requests, that were buffered", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readStamp] = 0.03
			lags(r, func(i int) time.Duration {
				if i%2 == 0 {
					return ms
				}
				return 30 * ms
			})
		}, []string{
			"client-limited: events were stamped 30ms late (p99), limit 1ms: gaps are wrong by as much, and TTFT where the first event shares its time; give this host more CPU or raise Limits.Stamp",
			"buffered: 100 % of 450 gaps between events are zero, limit 90 %: something on the way buffers the stream (a proxy, compression); go round it",
		}, false},
		{"read late, but for 49 requests of a hundred", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readStamp] = 0.03
			lags(r, func(i int) time.Duration {
				if i < 49 {
					return ms
				}
				return 30 * ms
			})
		}, []string{"client-limited: events were stamped 30ms late (p99), limit 1ms: gaps are wrong by as much, and TTFT where the first event shares its time; give this host more CPU or raise Limits.Stamp"}, true},
		{"read late, but for half of the requests, of which that is not known", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readStamp] = 0.03
			lags(r, func(i int) time.Duration { return time.Duration(i%2) * 30 * ms })
		}, []string{"client-limited: events were stamped 30ms late (p99), limit 1ms: gaps are wrong by as much, and TTFT where the first event shares its time; give this host more CPU or raise Limits.Stamp"}, true},
		{"as late as the point allows", func(r *metric.Record, p *Point) {
			p.Limits.Stamp = 30 * ms
			r.Client.Readings[readStamp] = 0.03
			lags(r, func(int) time.Duration { return 30 * ms })
		}, []string{"buffered: 100 % of 900 gaps between events are zero, limit 90 %: something on the way buffers the stream (a proxy, compression); go round it"}, false},
		{"a transport that does not tell, and this process woke up late", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readWake] = 0.007
		}, []string{"client-limited: this process woke up 7ms late (p99), limit 5ms: events were stamped as late; give this host more CPU or raise Limits.Wake"}, true},
		{"a transport that does not tell, and its goroutines waited", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readScheduler] = 0.007
		}, []string{"client-limited: goroutines of this process waited 7ms to run (p99), limit 5ms: events were stamped late; give this host more CPU or raise Limits.Wake"}, true},
		{"a transport that does not tell, and this process was on time", func(*metric.Record, *Point) {
		}, []string{"buffered: 100 % of 900 gaps between events are zero, limit 90 %: something on the way buffers the stream (a proxy, compression); go round it"}, false},
		{"requests left late, and were read on time", func(r *metric.Record, _ *Point) {
			r.Client.Readings[readStamp] = 0
			for i := range r.Requests {
				r.Requests[i].Sent += 6 * ms
			}
		}, []string{
			"client-limited: requests left 6ms late (p99 of sent − scheduled over 100), limit 5ms: this host could not send on time; give it more CPU, lower the load or raise Limits.Lag",
			"buffered: 100 % of 900 gaps between events are zero, limit 90 %: something on the way buffers the stream (a proxy, compression); go round it",
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, p := good(), Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100}
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readWake: 120e-6}
			for i := range r.Requests {
				r.Requests[i].ZeroGaps = 9
			}
			c.edit(r, &p)
			r.Problems, _ = Judge(r, p)
			var told []string
			for _, p := range r.Problems {
				told = append(told, p.Kind+": "+p.Text)
			}
			assert.Equal(t, c.problems, told)
			assert.Equal(t, c.mayPass, onlyLate(r), "is made again")
		})
	}
}
