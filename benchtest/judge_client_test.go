package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// What decides is lateness and what was offered; a host that is full decides
// nothing by itself.
func TestTheVerdictOnTheClient(t *testing.T) {
	quietHost := func() map[string]float64 {
		return map[string]float64{
			readCPUs: 8, readProcess: 0.42, readHost: 0.11, readScheduler: 31e-6, readWake: 120e-6, readWakeMax: 300e-6,
			readStoppedShare: 0.00012, readStoppedMax: 80e-6,
		}
	}
	const limited, unknown, ok = metric.ClientLimited, metric.ClientUnknown, metric.ClientOK
	for _, c := range []struct {
		name    string
		edit    func(*metric.Record)
		verdict string
		reasons []string
		kinds   []string
	}{
		{"nothing is wrong", func(*metric.Record) {}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 1.0000, want at least 0.990",
			"this process kept 0.42 of its 8 CPUs busy, and 11 % of the host's were",
		}, nil},
		{"the engine fills the host, and this process is on time", func(r *metric.Record) {
			r.Client.Readings[readHost] = 1
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 1.0000, want at least 0.990",
			"this process kept 0.42 of its 8 CPUs busy, and 100 % of the host's were",
		}, nil},
		{"the host is full, and this process wakes up late", func(r *metric.Record) {
			r.Client.Readings[readHost], r.Client.Readings[readWake] = 1, 0.0071
		}, limited, []string{
			"this process woke up 7.1ms late (p99), limit 5ms: events were stamped as late (this process kept 0.42 of its 8 CPUs busy, and 100 % of the host's were); give this host more CPU or raise Limits.Lag",
		}, []string{kindClient}},
		{"bytes lay unread, and have their times all the same", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.003, readStamp: 0, readWake: 0.003}
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"bytes lay unread for 3ms (p99), limit 5ms",
			"events were stamped 0s late (p99), limit 1ms",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"bytes lay unread, and many events have the time of a later one", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.003, readStamp: 0.003, readWake: 0.003}
		}, limited, []string{
			"events were stamped 3ms late (p99), limit 1ms: TTFT and gaps are wrong by as much; give this host more CPU or raise Limits.Stamp",
		}, []string{kindClient}},
		{"this process is full", func(r *metric.Record) {
			r.Client.Readings[readProcess], r.Client.Readings[readScheduler] = 7.9, 0.013
		}, limited, []string{
			"goroutines of this process waited 13ms to run (p99), limit 5ms: events were stamped late (this process kept 7.9 of its 8 CPUs busy, and 11 % of the host's were); give this host more CPU or raise Limits.Lag",
		}, []string{kindClient}},
		{"the collector stops it", func(r *metric.Record) {
			r.Client.Readings[readStoppedShare], r.Client.Readings[readStoppedMax] = 0.014, 0.0062
		}, limited, []string{
			"the garbage collector stopped this process for 1.4 % of the window, 6.2ms at most, limits 1 % and 5ms: nothing was stamped meanwhile; raise GOGC, or keep less in memory",
		}, []string{kindClient}},
		{"the collector stops it often, and never for long", func(r *metric.Record) {
			r.Client.Readings[readStoppedShare], r.Client.Readings[readStoppedMax] = 0.03, 0.0049
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 3 % of the window, 4.9ms at most",
			"achieved ÷ offered is 1.0000, want at least 0.990",
			"this process kept 0.42 of its 8 CPUs busy, and 11 % of the host's were",
		}, nil},
		{"late and short of the rate", func(r *metric.Record) {
			for i := range r.Requests {
				r.Requests[i].Sent += time.Duration(i) * 10 * time.Millisecond
			}
		}, limited, []string{
			"requests left 980ms late (p99 of sent − scheduled over 100), limit 5ms: this host could not send on time (this process kept 0.42 of its 8 CPUs busy, and 11 % of the host's were); give it more CPU, lower the load or raise Limits.Lag",
			"achieved ÷ offered is 0.909 (100 of 100 sent, over 11s for 9.9s planned), want at least 0.990: the numbers are those of the client, not of the server (this process kept 0.42 of its 8 CPUs busy, and 11 % of the host's were); lower the load or give the client more CPU",
		}, []string{kindClient, kindClient}},
		{"one request found no descriptor", func(r *metric.Record) {
			q := &r.Requests[40]
			q.Failure, q.Message, q.Sent = string(engines.Client), "socket: too many open files", 0
		}, limited, []string{
			"1 of 100 requests failed on this host and never reached the engine; first: socket: too many open files: allow this process more files (ulimit -n) and ports (net.ipv4.ip_local_port_range), or lower the load",
		}, []string{kindClient}},
		{"nobody stamped the sending", func(r *metric.Record) {
			r.Requests[3].Sent = 0
		}, unknown, []string{
			"1 of 100 requests carry no time of sending",
			"requests left 0s late (p99 of 99), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 0.9900, want at least 0.990",
		}, []string{kindClientUnknown}},
		{"nothing of this side was read", func(r *metric.Record) {
			r.Client.Readings = nil
		}, unknown, []string{
			"how long goroutines of this process waited to run was not read at both edges of the window",
			"requests left 0s late (p99 of 100), limit 5ms",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"nothing was to be read of virtual time", func(r *metric.Record) {
			r.Client.Readings, r.Virtual = nil, true
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"what is limited by what is known is limited, whatever is not", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readWake: 0.006}
		}, limited, []string{
			"this process woke up 6ms late (p99), limit 5ms: events were stamped as late; give this host more CPU or raise Limits.Lag",
		}, []string{kindClient}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			r.Client.Readings = quietHost()
			c.edit(r)
			p := Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100}
			verdict, reasons := newJudge(r, p).client()
			assert.Equal(t, c.verdict, verdict)
			assert.Equal(t, c.reasons, reasons)
			problems, _ := Judge(r, p)
			var kinds []string
			for _, p := range problems {
				kinds = append(kinds, p.Kind)
			}
			assert.Equal(t, c.kinds, kinds, "the record by itself comes to the same")
		})
	}
}

// What may be the client's of a latency follows from the point before the run.
func TestTheLimitsOfThePoint(t *testing.T) {
	for _, c := range []struct {
		name       string
		slo        SLO
		limits     Limits
		lag, stamp time.Duration
	}{
		{"none is said", SLO{}, Limits{}, 5 * time.Millisecond, time.Millisecond},
		{"an SLO of half a second", SLO{TTFT: 500 * time.Millisecond, TPOT: 40 * time.Millisecond}, Limits{}, 5 * time.Millisecond, time.Millisecond},
		{"of 200 ms", SLO{TTFT: 200 * time.Millisecond, E2E: 10 * time.Second}, Limits{}, 2 * time.Millisecond, time.Millisecond},
		{"of 150 ms to the end", SLO{E2E: 150 * time.Millisecond}, Limits{}, 1500 * time.Microsecond, time.Millisecond},
		{"of 20 ms, which no host holds to 1 %", SLO{TTFT: 20 * time.Millisecond}, Limits{}, 500 * time.Microsecond, time.Millisecond},
		{"of two seconds", SLO{TTFT: 2 * time.Second}, Limits{}, 5 * time.Millisecond, time.Millisecond},
		{"lag is said, and with it what stamps may be", SLO{TTFT: 20 * time.Millisecond}, Limits{Lag: 200 * time.Millisecond}, 200 * time.Millisecond, 200 * time.Millisecond},
		{"both are said", SLO{}, Limits{Lag: 20 * time.Millisecond, Stamp: 300 * time.Microsecond}, 20 * time.Millisecond, 300 * time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := usual()
			p.SLO, p.Limits = c.slo, c.limits
			got := p.orDefaults().orDefaults().Limits
			assert.Equal(t, []time.Duration{c.lag, c.stamp}, []time.Duration{got.Lag, got.Stamp})
		})
	}
}

// A lateness within the limits that is a large part of what was measured is a
// warning, and one that is nothing of it is not.
func TestTheClientsOwnPart(t *testing.T) {
	const remedy = ": give it more CPU or lower the load; other runs compare only if they are as late (Limits.Lag and Limits.Stamp make such runs invalid)"
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

// An event that was read by itself has its own time, however long it lay; one
// that was read together with a later one has not.
func TestHowLateEventsAreStamped(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared int // zero gaps of each request of ten events
		every  int // of so many requests
		want   float64
	}{
		{"each by itself", 0, 1, 0},
		{"one event in a hundred with another", 1, 10, 0},
		{"one event in ninety", 1, 9, 0.002},
		{"all of them", 9, 1, 0.002},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			for i := range r.Requests {
				r.Requests[i].ReadLag = 2 * time.Millisecond
				if i%c.every == 0 {
					r.Requests[i].ZeroGaps = c.shared
				}
			}
			into := map[string]float64{}
			newJudge(r, usual()).readReadings(into)
			assert.Equal(t, map[string]float64{readLag: 0.002, readStamp: c.want}, into)
		})
	}
}
