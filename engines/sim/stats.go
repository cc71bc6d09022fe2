package sim

import (
	"fmt"
	"io"
	"slices"
)

// counters are what the engine has done since its start.
type counters struct {
	prompt, output    int // tokens; of prompts that have been prefilled
	queries, hits     int // tokens looked up in and found in the cache
	preemptions       int
	compiles          int
	served            int // requests
	stopped, byLength int // by finish reason
	aborted           int
	errors            int // requests that were admitted
}

// histogram is a Prometheus histogram.
type histogram struct {
	edges  []float64
	counts []int // not cumulative; the last is above all edges
	sum    float64
	n      int
}

func newHistogram(edges []float64) *histogram {
	return &histogram{edges: edges, counts: make([]int, len(edges)+1)}
}

// observe adds a value n times.
func (h *histogram) observe(v float64, n int) {
	i, _ := slices.BinarySearch(h.edges, v)
	h.counts[i] += n
	h.sum += v * float64(n)
	h.n += n
}

func (h *histogram) write(w io.Writer, name, labels string) {
	fmt.Fprintf(w, "# TYPE %s histogram\n", name)
	total := 0
	for i, edge := range h.edges {
		total += h.counts[i]
		fmt.Fprintf(w, "%s_bucket{le=\"%g\",%s} %d\n", name, edge, labels, total)
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\",%s} %d\n", name, labels, h.n)
	fmt.Fprintf(w, "%s_sum{%s} %g\n", name, labels, h.sum)
	fmt.Fprintf(w, "%s_count{%s} %d\n", name, labels, h.n)
}

// The bucket edges of vLLM, in seconds.
var (
	ttftEdges  = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenEdges = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	phaseEdges = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// stats are what a server's metrics page has beside the engine's counters.
type stats struct {
	ttft, itl, tpot, e2e    *histogram
	queued, prefill, decode *histogram
}

func newStats() *stats {
	return &stats{
		ttft: newHistogram(ttftEdges), itl: newHistogram(tokenEdges), tpot: newHistogram(tokenEdges), e2e: newHistogram(phaseEdges),
		queued: newHistogram(phaseEdges), prefill: newHistogram(phaseEdges), decode: newHistogram(phaseEdges),
	}
}

// finished records a sequence that has ended with all its tokens.
func (t *stats) finished(q *sequence) {
	if q.before < q.want || q.fate == reset {
		return
	}
	t.ttft.observe((q.first - q.arrival).Seconds(), 1)
	t.e2e.observe((q.last - q.arrival).Seconds(), 1)
	t.queued.observe((q.admit - q.arrival).Seconds(), 1)
	t.prefill.observe((q.first - q.admit).Seconds(), 1)
	t.decode.observe((q.last - q.first).Seconds(), 1)
	if q.before > 1 {
		t.tpot.observe((q.last-q.first).Seconds()/float64(q.before-1), 1)
	}
}
