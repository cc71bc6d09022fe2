package doctor

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// streams are the answers of an engine, one after the other; the last is given
// again and again.
type streams struct {
	all  []stream
	made int
}

// stream is an answer of 32 events, of which so many come together, 5 ms for
// each; this host may have made as many of the gaps of nothing as late says.
type stream struct{ size, late int }

func (s *streams) Generate(_ context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	one := s.all[min(s.made, len(s.all)-1)]
	s.made++
	const each = 5 * time.Millisecond
	n := r.MaxTokens
	for i := range n {
		c := engines.Chunk{Token: true, Tokens: engines.Known(1), At: each * time.Duration(min(n, (i/one.size+1)*one.size))}
		if i%one.size != 0 && one.late > 0 {
			one.late--
			c.Lost = each
		}
		emit(c)
	}
	return engines.Reply{OutputTokens: engines.Known(n), ReadLag: each}, nil
}

// What this host read late is not laid to a proxy; it is looked at again, and
// where it decides the verdict, nothing is known.
func TestABusyHost(t *testing.T) {
	const (
		proxies = " → something on the way passes events on in batches (a proxy's buffer, compression): go round it, or switch it off for text/event-stream; or this host is too busy to read them in time; or the server makes several tokens at a time"
		busy    = " → look again when this host has less to do, or from another: a run here would be limited by its client"
	)
	for _, row := range []struct {
		name string
		all  []stream
		want string
		made int
	}{
		{"one that reads in time", []stream{{1, 0}},
			"ok buffering: 32 events over 160ms, the first after 5ms", 1},
		{"one that reads two of three events late", []stream{{3, 99}},
			"unknown buffering: 32 events over 160ms, the first after 15ms; 21 of 31 gaps between events are nothing, and 21 of those may be this host's, which read up to 5ms late" + busy, 3},
		{"one that does so at first", []stream{{3, 99}, {32, 99}, {1, 0}},
			"ok buffering: 32 events over 160ms, the first after 5ms", 3},
		{"one that reads a few events late, of batches", []stream{{3, 8}},
			"warn buffering: 32 events over 160ms, the first after 15ms; they come in batches of up to 3 (67.7 % of the gaps between them are nothing): TTFT is about 10ms too long (+200 %), and TPOT 6 % too short with outputs of this length" + proxies, 1},
		{"one that makes batches of batches", []stream{{10, 12}},
			"unknown buffering: 32 events over 160ms, the first after 50ms; 28 of 31 gaps between events are nothing, and 12 of those may be this host's, which read up to 5ms late" + busy, 3},
		{"one that reads a few events late when it is looked at longer", []stream{{10, 0}, {10, 20}},
			"fault buffering: 32 events over 160ms, the first after 50ms; they come in batches of up to 10 (90.3 % of the gaps between them are nothing): TTFT is about 45ms too long (+900 %), and TPOT 29 % too short with outputs of this length; more than 90 % make a run invalid" +
				" → something on the way holds streams back in part (a proxy's buffer, compression): go round it, or switch it off for text/event-stream", 2},
		{"one that reads late when it is looked at longer", []stream{{10, 0}, {10, 99}},
			"unknown buffering: 32 events over 160ms, the first after 50ms; with 128 tokens over 640ms, the first after 50ms; 115 of 127 gaps between events are nothing, and 99 of those may be this host's, which read up to 5ms late" + busy, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			engine := &streams{all: row.all}
			v := &visit{ctx: t.Context(), cfg: Config{Patience: time.Minute}, raw: &rawClient{}, report: &Report{}, engine: engine, form: form{text: true}, rng: rand.New(rand.NewPCG(1, 2))}
			v.main = v.fresh(engine, promptTokens, outputTokens)
			if !v.arrivals() {
				t.Error("stopped")
			}
			if got := v.report.Find(buffering).String(); got != row.want || engine.made != row.made {
				t.Errorf("by %d streams, want %d\ngot  %s\nwant %s", engine.made, row.made, got, row.want)
			}
		})
	}
}
