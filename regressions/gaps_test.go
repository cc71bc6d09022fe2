package regressions_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gapped are runs whose gaps lie between what of says, factor times as long.
func gapped(n int, factor float64, of ...string) regressions.Arm {
	a := with(shaped(n, 2, 0.009, 1, 1), "max-itl-sec", func(i int) float64 { return 0.02 * factor * (1 + 0.004*wobble[i%len(wobble)]) })
	for i := range a.Runs {
		a.Runs[i].Gaps = of[i%len(of)]
	}
	return a
}

// limited are runs near the knee with an SLO, and gaps of one kind.
func limited(slo, of string) regressions.Arm {
	a := nearKnee(12, slo, 1)
	for i := range a.Runs {
		a.Runs[i].Gaps = of
	}
	return a
}

// Gaps between tokens and gaps between events of several are two quantities.
func TestGapsOfTokensAndOfEvents(t *testing.T) {
	const tokens, events = "tokens", "events"
	named := regressions.Gate{Metrics: []regressions.Metric{{Name: "max-itl-sec"}}}
	for _, row := range []struct {
		name      string
		base, now regressions.Arm
		gate      regressions.Gate
		want      regressions.Status
		says      string
	}{
		{"tokens and tokens", gapped(12, 1, tokens), gapped(12, 1, tokens), named, regressions.Pass, "max-itl-sec 0.0 %"},
		{"events and events", gapped(12, 1, events), gapped(12, 1, events), named, regressions.Pass, "max-itl-sec 0.0 %"},
		{"of an older file, which does not say", gapped(12, 1, ""), gapped(12, 1, events), named, regressions.Pass, "max-itl-sec 0.0 %"},
		{"four tokens an event now, gated by name", gapped(12, 1, tokens), gapped(12, 4, events), named, regressions.Invalid,
			"max-itl-sec does not compare: its gaps are between single tokens in the baseline, between events of several tokens, or of unknown many here"},
		{"some events of several", gapped(12, 1, tokens), gapped(12, 1, tokens, events), named, regressions.Invalid, "does not compare"},
		{"single tokens now", gapped(12, 4, events), gapped(12, 1, tokens), named, regressions.Invalid,
			"its gaps are between events of several tokens, or of unknown many in the baseline, between single tokens here"},
		{"watched, the rest compares", gapped(12, 1, tokens), gapped(12, 4, events), regressions.Gate{}, regressions.Pass,
			"note       max-itl-sec does not compare: its gaps"},
		{"goodput by a limit on ITL", limited("ITL ≤ 30ms", tokens), limited("ITL ≤ 30ms", events), regressions.Gate{}, regressions.Invalid,
			"goodput-req/s does not compare: its gaps are between single tokens in the baseline"},
		{"goodput by limits on others", limited(objectives, tokens), limited(objectives, events), regressions.Gate{}, regressions.Pass, "goodput-req/s 0.0 %"},
	} {
		v := regressions.Judge(stored(row.base), row.now, row.gate)
		assert.Equal(t, row.want, v.Status, row.name)
		assert.Contains(t, v.Text(), row.says, row.name)
	}
}

// What the gaps of a run lie between comes from its record.
func TestGapsOfRecords(t *testing.T) {
	of := func(events int, single bool) string {
		r := record(0, 60)
		for i := range r.Requests {
			q := &r.Requests[i]
			q.Events, q.TokenGaps = events, single
			q.Gaps = slices.Repeat([]time.Duration{24 * time.Millisecond}, max(events-1, 0))
		}
		a, err := regressions.FromRecords([]*metric.Record{r}, []string{"p50-tpot-sec", "max-itl-sec"})
		require.NoError(t, err)
		return a.Runs[0].Gaps
	}
	assert.Equal(t, "tokens", of(256, true))
	assert.Equal(t, "events", of(64, false))
	assert.Empty(t, of(1, false), "without a gap")
}

// A baseline file says what its gaps lie between, run by run.
func TestBaselineKeepsWhatGapsLieBetween(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gaps.bench")
	arm := gapped(4, 1, "tokens", "events")
	require.NoError(t, regressions.WriteBaseline(path, stored(arm), false))
	b, err := regressions.ReadBaseline(path)
	require.NoError(t, err)
	for i := range arm.Runs {
		assert.Equal(t, arm.Runs[i].Gaps, b.Runs[i].Gaps)
	}
	arm.Runs[2].Gaps = "bytes"
	assert.ErrorContains(t, regressions.WriteBaseline(path, stored(arm), false), `run 2 has gaps "bytes", must be tokens, events or empty`)
}
