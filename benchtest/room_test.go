package benchtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// mayHave lets this process have so many descriptors, of which some are open.
func mayHave(t *testing.T, limit, open int) {
	was := ownDescriptors
	t.Cleanup(func() { ownDescriptors = was })
	ownDescriptors = func() (int, int) { return limit, open }
}

// A load whose requests in flight need more descriptors than there are is
// refused before it begins, with the limit, the need and the remedy.
func TestALoadThatTakesTooManyDescriptors(t *testing.T) {
	const raise = ", with 12 that are open and 32 for all else, and the limit (RLIMIT_NOFILE) is 64: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile; or lower the load"
	slow := func() *script { return &script{first: 100 * time.Millisecond, gap: 2 * time.Millisecond} }
	for _, c := range []struct {
		name   string
		limit  int
		engine *script
		point  Point
		want   string // empty is none
	}{
		{"200 a second, of an eighth of a second each", 64, slow(), Point{Workload: prompts{16, 14}, Arrivals: arrival.Constant{Rate: 200}, Requests: 400},
			"benchtest: constant 200/s has 26 requests in flight at once, or more (one alone takes the engine 100ms to its first token and 2ms for each further one): 26 connections need 70 descriptors" + raise},
		{"with probes", 64, slow(), Point{Workload: prompts{16, 14}, Arrivals: arrival.Constant{Rate: 155}, Requests: 400, ProbeRate: 1},
			"benchtest: constant 155/s has 20 requests in flight at once, or more (one alone takes the engine 100ms to its first token and 2ms for each further one): 21 connections need 65 descriptors" + raise},
		{"as many as a limit of the client's lets go", 64, slow(), Point{Workload: prompts{16, 14}, Arrivals: arrival.Constant{Rate: 200}, Requests: 400, ClientLimit: 25},
			"benchtest: 25 requests in flight, which the point allows: 25 connections need 69 descriptors" + raise},
		{"of a closed loop", 64, slow(), Point{Workload: prompts{16, 14}, Closed: Closed{InFlight: 40}, Requests: 400},
			"benchtest: 40 requests in flight: 40 connections need 84 descriptors" + raise},
		{"with a limit of the client's below", 64, slow(), Point{Workload: prompts{16, 14}, Arrivals: arrival.Constant{Rate: 200}, Requests: 400, ClientLimit: 20}, ""},
		{"an engine that answers at once", 64, quick(), Point{Workload: prompts{16, 4}, Arrivals: arrival.Constant{Rate: 200}, Requests: 400}, ""},
		{"there are enough", 1024, slow(), Point{Workload: prompts{16, 14}, Arrivals: arrival.Constant{Rate: 200}, Requests: 400}, ""},
		{"nothing is known", 0, slow(), Point{Workload: prompts{16, 14}, Arrivals: arrival.Constant{Rate: 200}, Requests: 400}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mayHave(t, c.limit, 12)
			inBubble(t, func(t *testing.T) {
				engine := struct {
					real
					*warmer
				}{real{c.engine}, &warmer{}}
				c.point.Runs, c.point.Limits.Lag = 1, time.Hour
				_, err := Run(t.Context(), engine, c.point, Options{})
				if c.want == "" {
					assert.NoError(t, err)
					return
				}
				assert.EqualError(t, err, c.want)
				asked := 3 // the readiness check, and in doubt twice more
				if c.point.Arrivals == nil {
					asked = 1
				}
				assert.Len(t, engine.seen, asked)
				noContentTwice(t, engine.seen)
			})
		})
	}
}

// The first answer may be slow for being the first: it refuses nothing alone.
func TestASlowFirstAnswerRefusesNothing(t *testing.T) {
	mayHave(t, 64, 12)
	inBubble(t, func(t *testing.T) {
		engine := struct {
			real
			*warmer
		}{real{quick()}, &warmer{}}
		engine.fails = func(n int, _ *engines.Request) error {
			if n == 0 {
				time.Sleep(10 * time.Second) // it compiles
			}
			return nil
		}
		p := usual()
		p.Arrivals, p.Requests, p.Limits.Lag = arrival.Constant{Rate: 200}, 400, time.Hour
		_, err := Run(t.Context(), engine, p, Options{})
		assert.NoError(t, err)
	})
}

// pooled keeps connections, of which it opens as many as it is asked for; or none
// beforehand. Others are the further descriptors that this process has open.
type pooled struct {
	limit, others, conns int
	opensNone            bool
	asked                []int
}

func (p *pooled) Warm(_ context.Context, n int) error {
	switch p.asked = append(p.asked, n); {
	case p.opensNone || n <= p.conns:
		return nil
	case p.others+n > p.limit:
		return &engines.Error{Class: engines.Client, Message: "open connections: the limit (RLIMIT_NOFILE) is 64"}
	}
	p.conns = n
	return nil
}

// Who knows its connections is asked: those that are open already need no other
// descriptor. Descriptors of other kinds are no connections.
func TestConnectionsThatAreOpenAlready(t *testing.T) {
	const lacks = "benchtest: 40 requests in flight: 40 connections need "
	const raise = " that are open and 32 for all else, and the limit (RLIMIT_NOFILE) is 64: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile; or lower the load"
	for _, c := range []struct {
		name  string
		pool  pooled
		asked []int // before the load
		want  string
	}{
		{"some are, and the others are opened", pooled{others: 12, conns: 30}, []int{40}, ""},
		{"all are, and one more than there are descriptors can be opened", pooled{others: 3, conns: 45}, []int{40, 49}, ""},
		{"all are, and no more can be", pooled{others: 12, conns: 45}, []int{40, 58}, ""},
		{"there are too many others", pooled{others: 30, conns: 20}, []int{40},
			"benchtest: 40 requests in flight: open connections: the limit (RLIMIT_NOFILE) is 64; or lower the load"},
		{"it opens none beforehand, and as many other files are open", pooled{others: 50, opensNone: true}, []int{40, 51},
			lacks + "122 descriptors, with 50" + raise},
		{"it opens none beforehand", pooled{others: 12, opensNone: true}, []int{40}, lacks + "84 descriptors, with 12" + raise},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pool.limit = 64
			mayHave(t, 0, 0)
			ownDescriptors = func() (int, int) { return c.pool.limit, c.pool.others + c.pool.conns }
			inBubble(t, func(t *testing.T) {
				engine := struct {
					real
					*pooled
				}{real{quick()}, &c.pool}
				_, err := Run(t.Context(), engine, Point{Workload: prompts{16, 14}, Closed: Closed{InFlight: 40}, Requests: 400, Runs: 1, Limits: Limits{Lag: time.Hour}}, Options{})
				if c.want == "" {
					assert.NoError(t, err)
				} else {
					assert.EqualError(t, err, c.want)
				}
				assert.Equal(t, c.asked, c.pool.asked[:len(c.asked)])
			})
		})
	}
}

// Streams that share a connection need none of their own, and an engine that
// opens none is not asked.
func TestWhoNeedsNoDescriptors(t *testing.T) {
	mayHave(t, 64, 40)
	inBubble(t, func(t *testing.T) {
		p := Point{Workload: prompts{16, 4}, Closed: Closed{InFlight: 40}, Requests: 100, Runs: 1, Limits: Limits{Lag: time.Hour}}
		shares := struct {
			real
			*warmer
		}{real{quick()}, &warmer{}}
		shares.reply = func(_ int, r *engines.Reply) { r.Protocol = "HTTP/2.0" }
		_, err := Run(t.Context(), shares, p, Options{})
		assert.NoError(t, err)
		_, err = Run(t.Context(), real{quick()}, p, Options{})
		assert.NoError(t, err)
	})
}

func TestAnEngineThatAnswersOnlyOnce(t *testing.T) {
	mayHave(t, 64, 12)
	inBubble(t, func(t *testing.T) {
		engine := struct {
			real
			*warmer
		}{real{&script{first: 200 * time.Millisecond}}, &warmer{}}
		engine.fails = func(n int, _ *engines.Request) error {
			if n > 0 {
				return errors.New("busy")
			}
			return nil
		}
		p := usual()
		p.Arrivals, p.Requests = arrival.Constant{Rate: 200}, 400
		_, err := Run(t.Context(), engine, p, Options{})
		require.ErrorContains(t, err, "constant 200/s has 40 requests in flight at once, or more")
		assert.Len(t, engine.seen, 2)
	})
}

func TestOverlap(t *testing.T) {
	ms := func(ns ...int) (out []time.Duration) {
		for _, n := range ns {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	for _, c := range []struct {
		name         string
		starts, ends []time.Duration
		want         int
	}{
		{"none", nil, nil, 0},
		{"one after the other", ms(0, 10, 20), ms(10, 20, 30), 1},
		{"two of three", ms(0, 5, 20), ms(10, 15, 30), 2},
		{"all at one instant", ms(5, 5, 5), ms(6, 6, 6), 3},
	} {
		assert.Equal(t, c.want, overlap(c.starts, c.ends), c.name)
	}
}
