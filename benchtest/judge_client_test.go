package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// ofClient is a change to a good record of a quiet host, and what its verdict on the
// client is then.
type ofClient struct {
	name    string
	edit    func(*metric.Record)
	verdict string
	reasons []string
	kinds   []string
}

func (c ofClient) test(t *testing.T) {
	r := good()
	r.Client.Readings = quietHost()
	c.edit(r)
	p := Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100, MaxInFlight: 16}
	if r.Point != nil {
		p.ClientLimit = 4
	}
	verdict, reasons := newJudge(r, p).client()
	assert.Equal(t, c.verdict, verdict)
	assert.Equal(t, c.reasons, reasons)
	problems, _ := Judge(r, p)
	var kinds []string
	for _, p := range problems {
		kinds = append(kinds, p.Kind)
	}
	assert.Equal(t, c.kinds, kinds, "the record by itself comes to the same")
}

func quietHost() map[string]float64 {
	return map[string]float64{
		readCPUs: 8, readProcess: 0.42, readHost: 0.11, readScheduler: 31e-6, readWake: 120e-6, readWakeMax: 300e-6,
		readStoppedShare: 0.00012, readStoppedMax: 80e-6,
	}
}

// What decides is lateness and what was offered; a host that is full decides
// nothing by itself.
func TestTheVerdictOnTheClient(t *testing.T) {
	const limited, unknown, ok = metric.ClientLimited, metric.ClientUnknown, metric.ClientOK
	for _, c := range []ofClient{
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
			"this process woke up 7.1ms late (p99), limit 5ms: events were stamped as late (this process kept 0.42 of its 8 CPUs busy, and 100 % of the host's were); give this host more CPU or raise Limits.Wake",
		}, []string{kindClient}},
		{"bytes lay unread, and have their times all the same", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.03, readStamp: 0, readWake: 0.03}
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"bytes lay unread for 30ms (p99), and have their times all the same",
			"events were stamped 0s late (p99), limit 1ms",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"bytes lay unread, and many events have the time of a later one", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.003, readStamp: 0.003, readWake: 0.003}
		}, limited, []string{
			"events were stamped 3ms late (p99), limit 1ms: gaps are wrong by as much, and TTFT where the first event shares its time; give this host more CPU or raise Limits.Stamp",
		}, []string{kindClient}},
		{"bytes lay unread, and slots of a closed loop wait for them", func(r *metric.Record) {
			r.InFlight = 4
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.03, readStamp: 0}
		}, limited, []string{
			"bytes lay unread for 30ms (p99), limit 5ms: slots became free as much later; give this host more CPU or raise Limits.Wake",
		}, []string{kindClient}},
		{"this process is full", func(r *metric.Record) {
			r.Client.Readings[readProcess], r.Client.Readings[readScheduler] = 7.9, 0.013
		}, limited, []string{
			"goroutines of this process waited 13ms to run (p99), limit 5ms: events were stamped late (this process kept 7.9 of its 8 CPUs busy, and 11 % of the host's were); give this host more CPU or raise Limits.Wake",
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
		{"one in ten found its server gone, which is no fault of this side", func(r *metric.Record) {
			for i := range r.Requests {
				if q := &r.Requests[i]; i%10 == 0 {
					q.Failure, q.Message, q.Sent, q.FirstToken, q.LastToken = string(engines.Unreachable), "connection refused", 0, 0, 0
				}
			}
		}, ok, []string{
			"requests left 0s late (the latest of 90), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 1.0000, want at least 0.990",
			"this process kept 0.42 of its 8 CPUs busy, and 11 % of the host's were",
		}, []string{kindErrors}},
		{"connections took long to open, which is told apart", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readWake: 120e-6}
			for i := range r.Requests {
				q := &r.Requests[i]
				q.NewConnection, q.Connect, q.Sent = true, 12*time.Millisecond, q.Sent+12*time.Millisecond
			}
		}, ok, []string{
			"requests left 0s late (p99 of 100; waits for a connection, the longest 12ms, are not in it), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"bytes lay unread, of a version that does not tell how late they were stamped", func(r *metric.Record) {
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.03, readWake: 0.03}
			for i := range r.Requests {
				r.Requests[i].ReadLag, r.Requests[i].ZeroGaps = 30*time.Millisecond, 5
			}
		}, limited, []string{
			"this process woke up 30ms late (p99), limit 5ms: events were stamped as late; give this host more CPU or raise Limits.Wake",
		}, []string{kindClient}},
		{"each request opens a connection, as asked, and this process wakes up late for it", func(r *metric.Record) {
			r.Identity = append(r.Identity, metric.Pair{Key: fieldDials, Value: "one for each request, as asked"})
			r.Client.Readings = map[string]float64{readScheduler: 31e-6, readLag: 0.0003, readStamp: 0, readWake: 0.009}
		}, limited, []string{
			"this process woke up 9ms late (p99), limit 5ms: connections were opened as much later; give this host more CPU or raise Limits.Wake",
		}, []string{kindClient}},
		{"nobody stamped the sending", func(r *metric.Record) {
			r.Requests[3].Sent = 0
		}, unknown, []string{
			"1 of 100 requests carry no time of sending",
			"requests left 0s late (the latest of 99), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"this process woke up 120µs late (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 0.9900, want at least 0.990",
		}, []string{kindClientUnknown}},
		{"nothing of this side was read", func(r *metric.Record) {
			r.Client.Readings = nil
		}, unknown, []string{
			"how long goroutines of this process waited to run was not read at both edges of the window",
			"how late this process wakes up was not read in the window",
			"requests left 0s late (p99 of 100), limit 5ms",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"nobody knows how late this process wakes up, and all else is fine", func(r *metric.Record) {
			delete(r.Client.Readings, readWake)
			delete(r.Client.Readings, readWakeMax)
		}, unknown, []string{
			"how late this process wakes up was not read in the window",
			"requests left 0s late (p99 of 100), limit 5ms",
			"goroutines of this process waited 31µs to run (p99), limit 5ms",
			"the garbage collector stopped this process for 0.012 % of the window, 80µs at most",
			"achieved ÷ offered is 1.0000, want at least 0.990",
		}, nil},
		{"a limit on this side holds requests back, as was asked", func(r *metric.Record) {
			for i := range r.Requests {
				q := &r.Requests[i]
				q.Released, q.Sent = q.Scheduled+time.Second, q.Scheduled+time.Second
				q.FirstToken, q.LastToken, q.Closed = q.FirstToken+time.Second, q.LastToken+time.Second, q.Closed+time.Second
			}
			r.Client.Readings, r.Virtual = nil, true
			r.Point = []metric.Pair{{Key: "client-limit", Value: "4"}}
		}, ok, []string{
			"requests left 0s late (p99 of 100), limit 5ms",
			"achieved ÷ offered, and bursts as sent, are not told: Point.ClientLimit of 4 holds requests back here, as was asked",
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
			"this process woke up 6ms late (p99), limit 5ms: events were stamped as late; give this host more CPU or raise Limits.Wake",
		}, []string{kindClient}},
	} {
		t.Run(c.name, c.test)
	}
}
