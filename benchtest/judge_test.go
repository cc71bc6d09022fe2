package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// good is a run of 100 requests, one every 100 ms, with which nothing is
// wrong: 1,000 tokens in, 10 out, no lag, no cache.
func good() *metric.Record {
	r := &metric.Record{From: time.Second, To: 11 * time.Second, Rate: 10, Flush: "flushed", WarmupRequests: 50, Counters: map[string]float64{}}
	for i := range 100 {
		at := time.Second + time.Duration(i)*100*time.Millisecond
		r.Requests = append(r.Requests, metric.Timeline{
			Phase: metric.Window, Scheduled: at, Sent: at, FirstToken: at + 20*time.Millisecond, LastToken: at + 110*time.Millisecond, Closed: at + 110*time.Millisecond,
			Events: 10, FirstTokens: 1, PromptTokens: 1000, OutputTokens: 10, AskedPrompt: 1000, AskedOutput: 10, CachedTokens: 0,
		})
	}
	return r
}

func TestJudge(t *testing.T) {
	every := func(r *metric.Record, n int, edit func(*metric.Timeline)) {
		for i := range r.Requests {
			if i%n == 0 {
				edit(&r.Requests[i])
			}
		}
	}
	for _, c := range []struct {
		name     string
		edit     func(*metric.Record, *Point)
		problems []string
		warnings []string
	}{
		{"nothing is wrong", func(*metric.Record, *Point) {}, nil, nil},
		{"no request in the window", func(r *metric.Record, _ *Point) { r.Requests = nil },
			[]string{"no-data: no request was due in the window: raise Requests or Window"}, nil},
		{"one error in a hundred is the limit", func(r *metric.Record, _ *Point) { r.Requests[7].Failure = "reset" }, nil, nil},
		{"two errors in a hundred", func(r *metric.Record, _ *Point) {
			every(r, 50, func(q *metric.Timeline) { q.Failure, q.Message = "reset", "connection reset after 3 tokens" })
		}, []string{"errors: 2 of 100 requests failed (2 %), limit 1 %; first failure: reset: connection reset after 3 tokens: find out why, or raise Limits.ErrorRate"}, nil},
		{"two errors and a limit of two", func(r *metric.Record, p *Point) {
			p.Limits.ErrorRate = 0.02
			every(r, 50, func(q *metric.Timeline) { q.Failure = "reset" })
		}, nil, nil},
		{"what the user aborted is no error", func(r *metric.Record, _ *Point) {
			every(r, 2, func(q *metric.Timeline) { q.Failure = metric.Aborted })
		}, nil, nil},
		{"every request failed, with a body as large as a reply", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.Failure, q.Message = "status", "404" })
		}, []string{
			"no-data: none of 100 requests of the window succeeded (first failure: status: 404)",
			"errors: 100 of 100 requests failed (100 %), limit 1 %; first failure: status: 404: find out why, or raise Limits.ErrorRate",
		}, []string{"nothing shows whether the prefix cache was cold: the server tells no cached tokens (flush: flushed)"}},
		{"requests that had not ended", func(r *metric.Record, _ *Point) {
			every(r, 10, func(q *metric.Timeline) { q.Failure = metric.Unfinished })
		}, []string{"unfinished: 10 of 100 requests (10 %) had not ended 1m0s after the window, limit 1 %: what is left has the shorter latencies; raise Point.Drain, or the load is more than the engine can do"}, nil},
		{"not stamped when sent", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.Sent = 0 })
		}, []string{"client-unknown: 100 of 100 requests carry no time of sending, so that nobody knows when the load was offered: the engine must call Request.Stamp (engines/enginetest checks it)"}, nil},
		{"late", func(r *metric.Record, _ *Point) {
			every(r, 50, func(q *metric.Timeline) { q.Sent += 7 * time.Millisecond })
		}, []string{"client-limited: requests left 7ms late (p99 of sent − scheduled over 100), limit 5ms: this host could not send on time; give it more CPU, lower the load or raise Limits.Lag"}, nil},
		{"late by a client limit that was asked for", func(r *metric.Record, p *Point) {
			p.ClientLimit = 4
			every(r, 2, func(q *metric.Timeline) {
				q.Sent += time.Second
				q.Released = q.Sent
			})
		}, nil, nil},
		{"short of CPU", func(r *metric.Record, _ *Point) { r.Client.Readings = map[string]float64{readScheduler: 0.0123} },
			[]string{"client-limited: goroutines of this process waited 12.3ms to run (p99), limit 5ms: events were stamped late; give this host more CPU or raise Limits.Wake"}, nil},
		{"half the rate", func(r *metric.Record, p *Point) {
			p.Limits.Lag = time.Hour
			for i := range r.Requests {
				r.Requests[i].Sent = time.Second + 2*(r.Requests[i].Scheduled-time.Second)
			}
		}, []string{"client-limited: achieved ÷ offered is 0.500 (100 of 100 sent, over 20s for 9.9s planned), want at least 0.990: the numbers are those of the client, not of the server; lower the load or give the client more CPU"}, nil},
		{"the rate of a closed loop is nobody's promise", func(r *metric.Record, p *Point) {
			p.Limits.Lag, r.InFlight = time.Hour, 4
			for i := range r.Requests {
				r.Requests[i].Sent = time.Second + 2*(r.Requests[i].Scheduled-time.Second)
			}
		}, nil, []string{"this host's own lateness is a large part of what was measured: half of the requests left 4.9s late, which is 245 times p50-ttft-sec (20ms); one request in twenty left 9.4s late, which is 470 times p95-ttft-sec (20ms): give it more CPU or lower the load; other runs compare only if they are as late (Limits.Lag, Limits.Wake and Limits.Stamp make such runs invalid)"}},
		{"warmer than declared", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.CachedTokens = 16 })
		}, []string{"warm-cache: 1.6 % of the prompt tokens came from the cache (by requests), declared 0 % and 1 % allowed above it; flush: flushed; flush it, or declare SharedTokens"}, nil},
		{"as warm as declared", func(r *metric.Record, p *Point) {
			p.SharedTokens = 0.5
			every(r, 1, func(q *metric.Timeline) { q.CachedTokens = 510 })
		}, nil, nil},
		{"warm, by counters", func(r *metric.Record, _ *Point) {
			r.Flush, r.FlushDetail = "unsupported", "404; set VLLM_SERVER_DEV_MODE=1"
			r.Counters["cache_hits"], r.Counters["cache_queries"] = 900, 1000
			every(r, 1, func(q *metric.Timeline) { q.CachedTokens = -1 })
		}, []string{"warm-cache: 90 % of the prompt tokens came from the cache (by counters), declared 0 % and 1 % allowed above it; flush: unsupported, 404; set VLLM_SERVER_DEV_MODE=1; flush it, or declare SharedTokens"}, nil},
		{"nobody knows how warm", func(r *metric.Record, _ *Point) {
			r.Requests[3].CachedTokens = -1
		}, nil, []string{"nothing shows whether the prefix cache was cold: the server tells no cached tokens (flush: flushed)"}},
		{"nobody knows how warm, and a proof was asked for", func(r *metric.Record, p *Point) {
			p.Cache, r.Flush = ProvedCold, ""
			r.Requests[3].CachedTokens = -1
		}, []string{"cold-unproved: the point asks for a proved cold cache, and neither requests nor counters tell cached tokens (flush: none): let the server report them (vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report), or ask for Cold"}, nil},
		{"a warm cache, as asked for", func(r *metric.Record, p *Point) {
			p.Cache = Warm
			every(r, 1, func(q *metric.Timeline) { q.CachedTokens = 1000 })
		}, nil, nil},
		{"buffered", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.ZeroGaps = 9 })
		}, []string{"buffered: 100 % of 900 gaps between events are zero, limit 90 %: something on the way buffers the stream (a proxy, compression); go round it"}, nil},
		{"two at a time", func(r *metric.Record, _ *Point) {
			r.Client.Readings = map[string]float64{readStamp: 0.0001}
			every(r, 1, func(q *metric.Timeline) { q.ZeroGaps, q.TokenGaps = 5, true })
		}, nil, []string{"55.6 % of 900 gaps between single tokens are zero: events come in batches, so TTFT is too long and TPOT too short; go round what holds them back (openloop doctor says by how much they are off)"}},
		{"two at a time, where nobody knows how late they were read", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.ZeroGaps, q.TokenGaps = 5, true })
		}, nil, nil},
		{"two at a time, of engines that decode several", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.ZeroGaps = 5 })
		}, nil, nil},
		{"output cut short", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.OutputTokens = 7 })
		}, []string{"length: 700 output tokens were served and 1000 asked for (-30.0 %), limit ±2 %: the server ends early or late; have it honour ignore_eos, or compare only with runs of the same length"}, nil},
		{"prompts cut", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.PromptTokens = 583 })
		}, []string{"length: 58300 prompt tokens were served and 100000 asked for (-41.7 %), limit ±2 %: the server adds, cuts or re-tokenises prompts; check max-model-len and templates"}, nil},
		{"no particular length asked", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.AskedPrompt, q.AskedOutput, q.PromptTokens, q.OutputTokens = -1, -1, 5, 5 })
		}, nil, nil},
		{"lengths not told", func(r *metric.Record, _ *Point) {
			every(r, 1, func(q *metric.Timeline) { q.OutputTokens = -1 })
		}, nil, []string{"the server did not tell the output tokens of 100 of 100 requests: token metrics are estimates"}},
		{"one length not told", func(r *metric.Record, _ *Point) {
			r.Requests[3].OutputTokens = -1
		}, nil, []string{"the server did not tell the output tokens of 1 of 100 requests: token metrics are estimates"}},
		{"lengths told of a part", func(r *metric.Record, _ *Point) {
			every(r, 4, func(q *metric.Timeline) { q.OutputTokens = -1 })
		}, []string{"length: the server told the output tokens of only 75 of 100 requests: token metrics would be those of a part; find out why it does not count the others"}, nil},
		{"counters that fell", func(r *metric.Record, _ *Point) { r.Counters["prompt_tokens"] = -12 },
			[]string{"restarted: the engine's counter prompt_tokens fell by 12 in the window: the engine has restarted, whose log says why, or several servers answer at this address, of which to attach to one"}, nil},
		{"a compilation", func(r *metric.Record, _ *Point) { r.Counters["compile_events"] = 2 },
			[]string{"compile-in-window: 2 compile events fell into the window: raise Point.Warmup from 50, so that every shape is compiled before"}, nil},
		{"requests that were not sent, and two errors in a hundred", func(r *metric.Record, p *Point) {
			p.MaxInFlight, p.Limits.Achieved = 8, 0.1
			every(r, 4, func(q *metric.Timeline) { q.Failure, q.Message, q.Sent = failCapped, "not sent", 0 })
			for i := range 2 {
				r.Requests[10*i+1].Failure, r.Requests[10*i+1].Message = "reset", "connection reset"
			}
		}, []string{
			"errors: 2 of 100 requests failed (2 %), limit 1 %; first failure: reset: connection reset: find out why, or raise Limits.ErrorRate",
			"in-flight-cap: 25 of 100 requests were not sent because 8 were in flight, and achieved ÷ offered is 0.750: lower the load or raise Point.MaxInFlight",
		}, nil},
		{"requests that were not sent", func(r *metric.Record, p *Point) {
			p.MaxInFlight, p.Limits.Achieved = 8, 0.1
			every(r, 4, func(q *metric.Timeline) { q.Failure, q.Sent = failCapped, 0 })
		}, []string{"in-flight-cap: 25 of 100 requests were not sent because 8 were in flight, and achieved ÷ offered is 0.750: lower the load or raise Point.MaxInFlight"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			p := Point{Workload: prompts{1000, 10}, Arrivals: arrival.Constant{Rate: 10}, Requests: 100}
			c.edit(r, &p)
			problems, warnings := Judge(r, p)
			var got []string
			for _, p := range problems {
				got = append(got, p.Kind+": "+p.Text)
			}
			assert.Equal(t, c.problems, got)
			assert.Equal(t, c.warnings, warnings)
		})
	}
}
