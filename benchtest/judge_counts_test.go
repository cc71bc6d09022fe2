package benchtest

import (
	"math"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/stretchr/testify/assert"
)

// The engine's counters are of the probes too, which are always cold: they must
// not make a warm cache look colder.
func TestProbesDoNotDiluteTheCounters(t *testing.T) {
	line := func(prompt, cached int) metric.Timeline {
		return metric.Timeline{Scheduled: time.Second, FirstToken: 2 * time.Second, LastToken: 2 * time.Second, PromptTokens: prompt, CachedTokens: cached}
	}
	r := &metric.Record{
		From: time.Second, To: 3 * time.Second, Requests: []metric.Timeline{line(1000, -1)},
		Counters: map[string]float64{"cache_queries": 1900, "cache_hits": 30},
	}
	share, proof := cachedShare(r)
	assert.Equal(t, "counters", proof)
	assert.InDelta(t, 30.0/1900, share, 1e-12)

	r.Probes = []metric.Timeline{line(400, 0), line(500, 10)}
	share, proof = cachedShare(r)
	assert.Equal(t, "counters", proof)
	assert.InDelta(t, 20.0/1000, share, 1e-12)

	r.Probes[1].CachedTokens = -1
	_, proof = cachedShare(r)
	assert.Empty(t, proof, "what a probe found is unknown, so the rest is")
}

// A clock that begins at nothing has no relative drift.
func TestDriftOfAClockFromNothing(t *testing.T) {
	assert.True(t, math.IsNaN(drift([]float64{0, 0, 1, 1, 1, 1, 1, 1})))
	assert.InDelta(t, -0.5, drift([]float64{2, 2, 1, 1, 1, 1, 1, 1}), 1e-12)
}
