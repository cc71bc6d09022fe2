package benchtest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// What failed or was refused on this host was not offered to the engine.
func TestTheVerdictOnAClientThatDidNotOfferAll(t *testing.T) {
	const limited, ok = metric.ClientLimited, metric.ClientOK
	for _, c := range []ofClient{
		{"one request found no descriptor", func(r *metric.Record) {
			q := &r.Requests[40]
			q.Failure, q.Message, q.Sent = string(engines.Client), "socket: too many open files", 0
		}, limited, []string{
			"1 of 100 requests failed on this host and never reached the engine; first: socket: too many open files: allow this process more files (ulimit -n) and ports (net.ipv4.ip_local_port_range), or lower the load",
		}, []string{kindClient}},
		{"three of settle and of the cooldown found none while the window's last was served", func(r *metric.Record) {
			// The window's last ends at 11.01 s.
			for _, q := range []struct {
				phase metric.Phase
				at    time.Duration
			}{{metric.Settle, 900 * time.Millisecond}, {metric.Cooldown, 11 * time.Second}, {metric.Cooldown, 11005 * time.Millisecond}} {
				r.Requests = append(r.Requests, metric.Timeline{Phase: q.phase, Scheduled: q.at, Failure: string(engines.Client), Message: "socket: too many open files"})
			}
			slices.SortStableFunc(r.Requests, func(a, b metric.Timeline) int { return cmp.Compare(a.Scheduled, b.Scheduled) })
		}, limited, []string{
			"1 of 1 request of settle, 2 of 2 requests of the cooldown failed on this host and never reached the engine, so that those of the window met less load than planned; first: socket: too many open files: allow this process more files (ulimit -n) and ports (net.ipv4.ip_local_port_range), or lower the load",
		}, []string{kindClient}},
		{"one of the cooldown found none after the window's last had ended", func(r *metric.Record) {
			r.Requests = append(r.Requests, metric.Timeline{Phase: metric.Cooldown, Scheduled: 11010 * time.Millisecond, Failure: string(engines.Client)})
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 1.0000, want at least 0.990",
			"this process kept 0.42 of its 8 CPUs busy, and 11 % of the host's were",
		}, nil},
		{"one in four was refused by the cap", func(r *metric.Record) {
			for i := range r.Requests {
				if q := &r.Requests[i]; i%4 == 3 {
					q.Failure, q.Message, q.Sent, q.FirstToken, q.LastToken = failCapped, "not sent", 0, 0, 0
				}
			}
		}, limited, []string{
			"25 of 100 requests were not sent because 16 were in flight, and achieved ÷ offered is 0.750: lower the load or raise Point.MaxInFlight",
		}, []string{kindCapped}},
		{"one of settle was refused by the cap", func(r *metric.Record) {
			r.Requests = append([]metric.Timeline{{Phase: metric.Settle, Scheduled: 900 * time.Millisecond, Failure: failCapped}}, r.Requests...)
		}, limited, []string{
			"1 of 1 request outside the window were not sent because 16 were in flight: lower the load or raise Point.MaxInFlight",
		}, []string{kindCapped}},
		{"one of a hundred found its server gone, in a window so short that some milliseconds look like a lower rate", func(r *metric.Record) {
			r.Client.Readings, r.Virtual = nil, true
			for i := range r.Requests {
				q := &r.Requests[i]
				q.Scheduled = time.Second + time.Duration(i)*time.Millisecond
				q.Sent = q.Scheduled
			}
			q := &r.Requests[50]
			q.Failure, q.Message, q.Sent, q.FirstToken, q.LastToken = string(engines.Unreachable), "connection refused", 0, 0, 0
			r.Requests[99].Sent += 3 * time.Millisecond
		}, ok, []string{
			"requests left 3ms late (the latest of 99), limit 5ms",
			"99 left and 1 failed on their way, over 102ms for 99ms planned",
		}, nil},
		{"all left, in such a window", func(r *metric.Record) {
			r.Client.Readings, r.Virtual = nil, true
			for i := range r.Requests {
				q := &r.Requests[i]
				q.Scheduled = time.Second + time.Duration(i)*time.Millisecond
				q.Sent = q.Scheduled
			}
			r.Requests[99].Sent += 3 * time.Millisecond
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"all 100 were sent, over 102ms for 99ms planned",
		}, nil},
	} {
		t.Run(c.name, c.test)
	}
}
