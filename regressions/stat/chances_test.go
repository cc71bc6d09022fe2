package stat_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The planner's chances against the operating characteristics of the gate at a
// margin of 5 %.
func TestCalibrationOfChances(t *testing.T) {
	n := gates(t)
	var cells []cell
	for _, row := range []struct {
		layout                               stat.Layout
		cv                                   float64
		falseAlarm, pass, runs, caught, toIt float64
		passDigits                           int
	}{
		{stat.Interleaved, 0.01, 0, 1, 3.1, 1, 3.0, 2},
		{stat.Interleaved, 0.02, 0, 0.999, 4.4, 1, 3.3, 3},
		{stat.Interleaved, 0.03, 0.006, 0.957, 6.5, 1, 4.1, 3},
		{stat.Interleaved, 0.05, 0.019, 0.617, 9.2, 0.975, 6.6, 3},
		{stat.Stored, 0.02, 0, 1, 3.4, 1, 3.1, 3},
		{stat.Stored, 0.05, 0.017, 0.579, 8.6, 0.963, 5.1, 3},
	} {
		p := planner(row.layout, row.cv, 10)
		name := fmt.Sprintf("layout %d, CV %.0f %%: ", row.layout, 100*row.cv)
		same, slow := chances(t, p, 0, n), chances(t, p, math.Log(1.10), n)
		cells = append(cells,
			same.cell(name+"unchanged, regressed", same.Slower, row.falseAlarm, 3),
			same.cell(name+"unchanged, pass", same.Within, row.pass, row.passDigits),
			same.meanRuns(name+"unchanged, runs", row.runs),
			slow.cell(name+"+10 %, regressed", slow.Slower, row.caught, 3),
			slow.meanRuns(name+"+10 %, runs", row.toIt))
	}
	judge(t, cells)
}

type simulated struct{ stat.Chances }

func chances(t *testing.T, p stat.Planner, diff float64, paths int) simulated {
	t.Helper()
	c, err := p.Chances(stat.DefaultLooks(), diff, paths, 41)
	require.NoError(t, err)
	return simulated{c}
}

// cell is the share at the last look.
func (s simulated) cell(name string, shares []float64, tabled float64, digits int) cell {
	n := float64(s.Paths)
	return outcome{n: s.Paths}.share(name, shares[len(shares)-1]*n, tabled, digits)
}

// meanRuns is the cell of the mean number of runs, whose variance the shares
// of each look give.
func (s simulated) meanRuns(name string, tabled float64) cell {
	n, before := float64(s.Paths), 0.0
	o := outcome{n: s.Paths, runs: s.Runs * n}
	looks := stat.DefaultLooks()
	for i, look := range looks {
		at := s.Slower[i] + s.Within[i]
		if i == len(looks)-1 {
			at = 1
		}
		o.squares += n * (at - before) * float64(look*look)
		before = at
	}
	return o.mean(name, tabled)
}

// By construction: shares only grow, sum to at most 1, and are the seed's.
func TestChances(t *testing.T) {
	for _, layout := range []stat.Layout{stat.Stored, stat.Interleaved, stat.Replayed} {
		p := planner(layout, 0.03, 5)
		c := chances(t, p, 0.03, 500)
		assert.Equal(t, c, chances(t, p, 0.03, 500))
		for i := range c.Slower {
			assert.LessOrEqual(t, c.Slower[i]+c.Within[i], 1+1e-9)
			if i > 0 {
				assert.GreaterOrEqual(t, c.Slower[i], c.Slower[i-1])
				assert.GreaterOrEqual(t, c.Within[i], c.Within[i-1])
			}
		}
		assert.GreaterOrEqual(t, c.Runs, 3.0)
		assert.LessOrEqual(t, c.Runs, 12.0)
	}
}

// A single look passes an unchanged engine with the power that was asked for,
// when runs vary by the largest standard deviation that it resolves.
func TestChancesKeepThePower(t *testing.T) {
	for _, row := range []struct {
		layout    stat.Layout
		stored, n int
		power     float64
	}{
		{stat.Interleaved, 0, 12, 0.80},
		{stat.Interleaved, 0, 5, 0.95},
		{stat.Stored, 10, 8, 0.80},
		{stat.Replayed, 0, 8, 0.90},
		{stat.ByStart, 8, 2, 0.80},
	} {
		p := planner(row.layout, 0, row.stored)
		p.Power = row.power
		p.S = p.Largest(row.n)
		c, err := p.Chances([]int{row.n}, 0, 10_000, 43)
		require.NoError(t, err)
		// Welch's switch and the sum of quantiles cost up to a hundredth.
		assert.InDelta(t, row.power, c.Within[0], 0.02, "%+v", row)
	}
}

func TestChancesRefuse(t *testing.T) {
	p := planner(stat.Interleaved, 0.02, 0)
	none := planner(stat.Interleaved, math.NaN(), 0)
	for _, row := range []struct {
		p     stat.Planner
		looks []int
		paths int
		want  string
	}{
		{p, nil, 10, "stat: looks: none given, need at least one"},
		{p, []int{2, 5}, 10, "stat: looks [2 5] must increase from 3 or more"},
		{p, []int{5, 5}, 10, "stat: looks [5 5] must increase from 3 or more"},
		{p, []int{3}, 0, "stat: paths must be positive, got 0"},
		{none, []int{3}, 10, "stat: S must be positive, got NaN"},
		{planner(stat.Stored, 0.02, 2), []int{3}, 10, "stat: runs of the baseline: have 2, need at least 3"},
		{planner(stat.ByStart, 0.02, 2), []int{1}, 10, "stat: starts of the baseline: have 2, need at least 3"},
	} {
		_, err := row.p.Chances(row.looks, 0, row.paths, 1)
		assert.EqualError(t, err, row.want)
	}
}
