package benchtest

import (
	"context"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// An engine without a limit has no capacity to find.
func TestAProbeOfAnEngineWithoutALimit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: 10 * time.Millisecond, gap: 5 * time.Millisecond}
		found, err := ProbeCapacity(t.Context(), engine, Probe{Workload: prompts{4, 2}}, Options{})
		const want = "benchtest: probe: the rate still rises at 1024 in flight, to 6.83e+04 req/s: set Probe.InFlight to the engine's largest number of sequences"
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if found.Rate != 0 || found.InFlight != 0 {
			t.Errorf("something was found: %+v", found)
		}
	})
}

// uncounted is an engine that counts no tokens.
type uncounted struct{ *script }

func (e uncounted) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	reply, err := e.script.Generate(ctx, r, func(c engines.Chunk) {
		c.Tokens = engines.Count{}
		emit(c)
	})
	reply.PromptTokens, reply.OutputTokens = engines.Count{}, engines.Count{}
	return reply, err
}

// A server that counts no tokens is probed by its requests.
func TestAProbeWithoutTokens(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := uncounted{&script{first: 100 * time.Millisecond, gap: 100 * time.Millisecond, slots: 12}}
		found, err := ProbeCapacity(t.Context(), engine, Probe{Workload: prompts{4, 2}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		// 12 slots of 0.2 s serve 60 a second. 8 in flight get 40, 16 seem to
		// get 56, since bursts of 12 end unevenly in a window, 32 and 64 get 60.
		if found.InFlight != 32 || found.OutputTokens != 0 || found.Rate < 59 || found.Rate > 61 {
			t.Errorf("want 60 req/s at 32 in flight and no output tokens, got\n%+v, %v output tok/s", found, found.OutputTokens)
		}
	})
}

// The load that is held against the relaxation is the one that was asked for:
// arrivals that chance has brought closer do not make a run invalid.
func TestSettlingIsJudgedByTheLoadAskedFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := Capacity(10).Knee(prompts{4, 2})
		s, err := newSession(&script{}, p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		// 400 arrivals that came 5 % faster than asked for.
		flights := make([]*flight, kneeSettle)
		for i := range flights {
			f := &flight{}
			f.line.Scheduled = time.Duration(float64(i) * float64(time.Second) / (1.05 * 8.8))
			f.line.FirstToken, f.line.LastToken, f.line.OutputTokens = f.line.Scheduled+1, f.line.Scheduled+2, 2
			flights[i] = f
		}
		r := &metric.Record{}
		s.longEnough(r, "Settle", kneeSettle, flights)
		if len(r.Problems) != 0 {
			t.Errorf("said %v", r.Problems)
		}
		s.longEnough(r, "Settle", 200, flights[:200])
		const want = "Settle of 200 requests is too short: at 88 % of Point.Capacity a queue takes 230 arrivals to settle: set Point.Settle to 230 or more"
		if len(r.Problems) != 1 || r.Problems[0].Text != want {
			t.Errorf("said %v\nwant %s", r.Problems, want)
		}
	})
}
