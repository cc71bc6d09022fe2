package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// A server that ends connections is told, with what that cost; nobody else is.
func TestConnectionsThatTheServerEnds(t *testing.T) {
	// dials makes each so-many-th request open a connection, for so long.
	dials := func(r *metric.Record, every int, took time.Duration) {
		for i := range r.Requests {
			if q := &r.Requests[i]; i%every == 0 {
				q.NewConnection, q.Connect = true, took
				q.Sent += took
			}
		}
	}
	const remedy = `; let it keep them (HTTP/1.1 without "Connection: close", keep-alive in proxies), or compare only with runs that dialled as well`
	for _, c := range []struct {
		name     string
		edit     func(*metric.Record)
		warnings []string
		kinds    []string
	}{
		{"connections are kept", func(r *metric.Record) { dials(r, 1000, time.Millisecond) }, nil, nil},
		{"every one is ended", func(r *metric.Record) { dials(r, 1, 1200*time.Microsecond) }, []string{
			// Two overlap all the time, so that the first two were to be opened.
			"100 connections were opened in the window for 100 requests, 98 of them although the connection of an earlier one had just become idle: the server ends connections that were to be kept; that took 1.2ms (p50), 1.2ms at most, which is in TTFT and E2E" + remedy,
		}, nil},
		{"every one, by HTTP/1.0", func(r *metric.Record) {
			dials(r, 1, 0)
			for i := range r.Requests {
				r.Requests[i].Protocol = "HTTP/1.0"
			}
		}, []string{
			"100 connections were opened in the window for 100 requests, 98 of them although the connection of an earlier one had just become idle: the server ends connections that were to be kept (HTTP/1.0); how long that took is not known" + remedy,
		}, nil},
		// Opening takes longer than the limit of lag, and is no lag of this side's.
		{"every one, far away", func(r *metric.Record) {
			dials(r, 1, 8*time.Millisecond)
			for i := range 2 { // opened before the window
				q := &r.Requests[i]
				q.NewConnection, q.Connect, q.Sent = false, 0, q.Scheduled
			}
		}, []string{
			"98 connections were opened in the window for 100 requests, 98 of them although the connection of an earlier one had just become idle: the server ends connections that were to be kept; that took 8ms (p50), 8ms at most, which is in TTFT and E2E" + remedy,
		}, nil},
		{"every tenth, as after ten requests each", func(r *metric.Record) { dials(r, 10, time.Millisecond) }, nil, nil},
		{"every one, as was asked for", func(r *metric.Record) {
			dials(r, 1, 8*time.Millisecond)
			r.Identity = append(r.Identity, metric.Pair{Key: fieldDials, Value: "one for each request, as asked"})
		}, nil, nil},
		{"in virtual time it is chance", func(r *metric.Record) {
			dials(r, 1, time.Millisecond)
			r.Virtual = true
		}, nil, nil},
		{"the load is so rare that this side ends them", func(r *metric.Record) {
			for i := range r.Requests {
				q, later := &r.Requests[i], time.Duration(i)*4*time.Second
				q.Scheduled, q.Sent, q.Closed = q.Scheduled+later, q.Sent+later, q.Closed+later
				q.FirstToken, q.LastToken = q.FirstToken+later, q.LastToken+later
			}
			r.To += 400 * time.Second
			dials(r, 1, 500*time.Microsecond)
		}, nil, nil},
		{"more are in flight than ever before", func(r *metric.Record) {
			for i := range r.Requests {
				r.Requests[i].Closed = 20 * time.Second
			}
			dials(r, 1, 500*time.Microsecond)
		}, nil, nil},
		// How long the server takes to accept, and how many more are in flight than
		// before, says nothing of this side.
		{"more are in flight than ever before, and opening takes long", func(r *metric.Record) {
			for i := range r.Requests {
				r.Requests[i].Closed = 20 * time.Second
			}
			dials(r, 2, 12*time.Millisecond)
		}, []string{
			"50 connections were opened in the window for 100 requests, since more were in flight than before; that took 12ms (p50), 12ms at most, which is in TTFT and E2E; raise Point.Warmup, so that they are opened before the window",
		}, nil},
		{"the last request waits half a second for its connection", func(r *metric.Record) {
			q := &r.Requests[99]
			q.NewConnection, q.Connect, q.Sent = true, 500*time.Millisecond, q.Sent+500*time.Millisecond
			q.FirstToken, q.LastToken, q.Closed = q.FirstToken+time.Second, q.LastToken+time.Second, q.Closed+time.Second
		}, nil, nil},
		{"a request takes the connection of another, for which it waited while it opened one", func(r *metric.Record) {
			for i := range r.Requests {
				r.Requests[i].Connect = 8 * time.Millisecond
				r.Requests[i].Sent += 8 * time.Millisecond
			}
		}, nil, nil},
		{"probes take the connections that had become idle", func(r *metric.Record) {
			// From the end of its second request on, one connection is idle whenever
			// another request is due, and a probe takes it for half a second.
			for i := range r.Requests {
				q := r.Requests[i]
				q.Phase, q.Scheduled, q.Sent = metric.Probe, q.Scheduled-50*time.Millisecond, q.Sent-50*time.Millisecond
				q.Closed = q.Scheduled + 20*time.Second
				r.Probes = append(r.Probes, q)
			}
			dials(r, 1, time.Millisecond)
		}, nil, nil},
		{"what failed leaves none", func(r *metric.Record) {
			for i := range r.Requests {
				r.Requests[i].Failure = "reset"
			}
			dials(r, 1, time.Millisecond)
		}, []string{"nothing shows whether the prefix cache was cold: the server tells no cached tokens (flush: flushed)"}, []string{kindNoData, kindErrors}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			r.Client.Readings = map[string]float64{readScheduler: 31e-6}
			c.edit(r)
			problems, warnings := Judge(r, Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100})
			var kinds []string
			for _, p := range problems {
				kinds = append(kinds, p.Kind)
			}
			assert.Equal(t, c.warnings, warnings)
			assert.Equal(t, c.kinds, kinds)
		})
	}
}

// The record says what was found and how long opening took.
func TestConnectionsAreRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := usual()
		p.Limits.Lag = time.Hour
		engine := real{&script{first: 10 * time.Millisecond, reply: func(n int, r *engines.Reply) {
			r.NewConnection, r.Connect = true, time.Duration(1+n%2)*time.Millisecond
		}}}
		r := one(t, engine, p)
		c := r.Client.Readings
		assert.Equal(t, []float64{100, 100, 0.001, 0.002}, []float64{c[readOpened], c[readClosed], c[readConnect], c[readConnectMax]})

		asked := one(t, struct {
			real
			dialling
		}{engine, dialling{}}, p)
		_, known := asked.Client.Readings[readClosed]
		assert.False(t, known, "nobody ended them")
		assert.Equal(t, 100.0, asked.Client.Readings[readOpened])
		assert.Contains(t, asked.Identity, metric.Pair{Key: fieldDials, Value: "one for each request, as asked"})
	})
}

// dialling is an engine that is to open a connection for each request.
type dialling struct{}

func (dialling) DialsEach() bool { return true }

// A host that runs out of ports for connections of one request each is at fault
// itself: the run is invalid, and says what would help.
func TestPortsThatRunOut(t *testing.T) {
	r := good()
	for i := range r.Requests {
		r.Requests[i].NewConnection = true
		if i >= 60 {
			r.Requests[i].Failure, r.Requests[i].Sent = string(engines.Client), 0
			r.Requests[i].Message = "connect: cannot assign requested address: this host has run out of it, not the server"
		}
	}
	problems, _ := Judge(r, Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100})
	require.Len(t, problems, 2, "and what failed is no error of the engine's: %v", problems)
	assert.Equal(t, kindClient, problems[1].Kind, "less was sent than was asked for")
	assert.Equal(t, problems[0], metric.Problem{Kind: kindClient, Text: "40 of 100 requests failed on this host and never reached the engine; first: connect: cannot assign requested address: this host has run out of it, not the server: " +
		"allow this process more files (ulimit -n) and ports (net.ipv4.ip_local_port_range), keep connections (100 requests opened one), or lower the load"})
}
