package doctor

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// counterWatch is the engine's counters around the main stream.
type counterWatch struct{ first, last engines.Counters }

// counting is an engine whose counters are read before each generation.
type counting struct {
	engines.Engine
	v *visit
}

func (c counting) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	c.v.counted.first = c.v.scrape()
	return c.Engine.Generate(ctx, r, emit)
}

// after waits a little for the counters to come to rest.
func (w *counterWatch) after(v *visit) {
	if !w.first.OutputTokens.Known {
		return
	}
	want := w.first.OutputTokens.N + v.main.reply.OutputTokens.N
	v.until(3*time.Second, func() bool {
		w.last = v.scrape()
		return !w.last.OutputTokens.Known || w.last.OutputTokens.N >= want
	})
}

// output is by how much the counter of output tokens grew.
func (w *counterWatch) output() (int, bool) {
	return w.last.OutputTokens.N - w.first.OutputTokens.N, w.first.OutputTokens.Known && w.last.OutputTokens.Known
}

// scrape is the engine's counters; unknown where it has none.
func (v *visit) scrape() engines.Counters {
	if s, ok := v.warm.(engines.Scraper); ok {
		if c, err := s.Scrape(v.ctx); err == nil {
			return c
		}
	}
	return engines.Counters{}
}

// needed are the names on a page of metrics that a measurement reads, each
// with its older spellings, and what is lost without it.
var needed = map[string][]struct {
	names []string
	loss  string
}{
	"vllm": {
		{[]string{"vllm:num_requests_running"}, lossOfLoad},
		{[]string{"vllm:num_requests_waiting"}, lossOfLoad},
		{[]string{"vllm:prompt_tokens"}, lossOfRestarts},
		{[]string{"vllm:generation_tokens"}, lossOfRestarts},
		{[]string{"vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"}, lossOfHits},
		{[]string{"vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"}, lossOfHits},
		{[]string{"vllm:num_preemptions"}, lossOfPreemptions},
	},
	"sglang": {
		{[]string{"sglang:num_running_reqs"}, lossOfLoad},
		{[]string{"sglang:num_queue_reqs"}, lossOfLoad},
		{[]string{"sglang:prompt_tokens"}, lossOfRestarts},
		{[]string{"sglang:generation_tokens"}, lossOfRestarts},
		{[]string{"sglang:cached_tokens"}, lossOfHits},
		{[]string{"sglang:num_retracted_requests"}, lossOfPreemptions},
	},
	"llamacpp": {
		{[]string{"llamacpp:requests_processing"}, lossOfLoad},
		{[]string{"llamacpp:requests_deferred"}, lossOfLoad},
		{[]string{"llamacpp:prompt_tokens_total"}, lossOfRestarts},
		{[]string{"llamacpp:tokens_predicted_total"}, lossOfRestarts},
		{[]string{"llamacpp:prompt_tokens_cached_total"}, lossOfHits},
	},
}

// late are those that a page has from their first event on only.
var late = map[string]bool{"sglang:cached_tokens": true, "sglang:num_retracted_requests": true}

const (
	lossOfLoad        = "the queue is not told"
	lossOfRestarts    = "a restart within a run goes unnoticed"
	lossOfHits        = "coldness rests on the cached tokens of replies"
	lossOfPreemptions = "preemptions are unrecorded"
)

// metrics: the page and its names, and whether they count what was done.
func (v *visit) metrics() bool {
	const name = "metrics"
	kind := v.report.Kind
	if needed[kind] == nil {
		v.say(name, Unknown, "", "the names of a server of unknown kind are not known")
		return true
	}
	page, err := v.client.Page(v.ctx, "/metrics")
	switch {
	case v.ctx.Err() != nil:
		return false
	case passing(err):
		v.say(name, Unknown, lookAgain, "no page of metrics: %s", v.words(err))
		return true
	case err != nil:
		v.say(name, Warn, metricsRemedy(kind), "no page of metrics: %s", v.words(err))
		return true
	}
	var missing, lost, awaited []string
	for _, n := range needed[kind] {
		if _, ok := page.Sum(n.names...); !ok {
			if late[n.names[0]] && !(v.hit && n.loss == lossOfHits) {
				awaited = append(awaited, n.names[0])
				continue
			}
			missing = append(missing, n.names[0])
			if !slices.Contains(lost, n.loss) {
				lost = append(lost, n.loss)
			}
		}
	}
	switch {
	case len(missing) > 0:
		v.say(name, Warn, metricsRemedy(kind)+": "+strings.Join(lost, "; "), "/metrics lacks %s", strings.Join(missing, ", "))
	case len(awaited) > 0:
		v.say(name, OK, "", "/metrics has %d of the %d names that are read; %s: there from the first event on", len(needed[kind])-len(awaited), len(needed[kind]), strings.Join(awaited, ", "))
	default:
		v.say(name, OK, "", "/metrics has all %d names that are read", len(needed[kind]))
	}
	v.counters()
	return true
}

func metricsRemedy(kind string) string {
	switch kind {
	case "vllm":
		return "start the server without --disable-log-stats, and attach to it directly"
	case "sglang":
		return "start the server with --enable-metrics"
	default:
		return "start the server with --metrics, or update it"
	}
}

// counters: whether they grew by what the main stream says it did.
func (v *visit) counters() {
	const name = "counters"
	grown, ok := v.counted.output()
	told := v.main.reply.OutputTokens
	switch {
	case v.miscounted:
		v.say(name, Unknown, "", "output tokens grew by %d with a stream of %d; see token-counts", grown, told.N)
	case !ok:
		v.say(name, Unknown, "", "none tells output tokens")
	case !told.Known:
		v.say(name, Unknown, "", "output tokens grew by %d, and the stream tells nothing beside", grown)
	case grown == told.N:
		v.say(name, OK, "", "output tokens grew by the %d that the stream told", grown)
	case grown > told.N && !v.idleSeen:
		v.say(name, Unknown, "look again when nobody else uses the server", "output tokens grew by %d with a stream of %d: others use it too", grown, told.N)
	default:
		v.say(name, Warn, "nobody else may use the server; else the counters do not count what streams tell, and are no proof of anything", "output tokens grew by %d with a stream of %d", grown, told.N)
	}
}
