package stat

import (
	"fmt"
	"math"
	"sort"
)

// Load is what an open loop does to the median TPOT of an engine: it amplifies
// a slowdown of the decode, and it amplifies noise more. So a margin stands for
// less of a slowdown the nearer the load comes to the capacity, and fewer
// margins can be resolved.
//
// The numbers are those of the embedded engine: Llama-3-8B in 64 slots, prompts
// of 2,048 tokens, outputs of 256, Poisson arrivals, runs of 300 requests
// (examples/quickstart repeats them in TestLoadsHaveJobs). Other engines and
// lengths bend the same way by other amounts.
type Load struct {
	// Share is the offered rate ÷ the capacity; 0 is one request in flight.
	Share float64
	// Effect is the relative change of p50 TPOT ÷ that of the decode, both as
	// logarithms; 1 when serial.
	Effect float64
	// Same is the standard deviation of a run ÷ the engine's own between runs,
	// when arrivals are replayed (of a difference of two runs, ÷ √2).
	Same float64
	// Luck is the coefficient of variation that other arrivals add.
	Luck float64
}

// loads are measured: Effect and Luck over 300 pairs of runs of an engine
// without noise, one of the pair with a decode 5 % slower (2 to 10 % give the
// same to 0.02 up to a share of 0.7), Same, to 5 %, over 200 pairs of runs of
// an engine with 2 % of noise, each constant within its run.
var loads = []Load{
	{Share: 0, Effect: 1, Same: 1, Luck: 0},
	{Share: 0.142, Effect: 1.05, Same: 1.15, Luck: 0.009},
	{Share: 0.284, Effect: 1.12, Same: 1.31, Luck: 0.018},
	{Share: 0.355, Effect: 1.16, Same: 1.39, Luck: 0.025},
	{Share: 0.567, Effect: 1.32, Same: 1.81, Luck: 0.047},
	{Share: 0.709, Effect: 1.50, Same: 2.20, Luck: 0.069},
	{Share: 0.851, Effect: 1.78, Same: 2.98, Luck: 0.108},
	{Share: 0.887, Effect: 1.86, Same: 3.11, Luck: 0.108},
}

// MaxShare is the largest share of the capacity that AtLoad knows: the knee.
// Beyond it a latency is a matter of how long one ran.
const MaxShare = 0.887

// AtLoad is the load of that share of the capacity, between the measured ones
// by straight lines. A share below 0 or above MaxShare is an error.
func AtLoad(share float64) (Load, error) {
	if !(share >= 0 && share <= MaxShare) {
		return Load{}, fmt.Errorf("stat: the share of the capacity must be from 0 to %v, got %v: beyond the knee latencies depend on how long one ran", MaxShare, share)
	}
	i := sort.Search(len(loads), func(i int) bool { return loads[i].Share >= share })
	if loads[i].Share == share {
		return loads[i], nil
	}
	a, b := loads[i-1], loads[i]
	between := func(x, y float64) float64 { return x + (y-x)*(share-a.Share)/(b.Share-a.Share) }
	return Load{share, between(a.Effect, b.Effect), between(a.Same, b.Same), between(a.Luck, b.Luck)}, nil
}

// StandsFor is the slowdown of the decode that shows as a change of p50 TPOT by
// the margin: at a third of the capacity a margin of 0.05 stands for 0.044, at
// the knee for 0.027.
func (l Load) StandsFor(margin float64) float64 {
	return math.Expm1(math.Log1p(margin) / l.Effect)
}

// Shows is the change of p50 TPOT by which a slowdown of the decode shows: the
// inverse of StandsFor.
func (l Load) Shows(slowdown float64) float64 {
	return math.Expm1(l.Effect * math.Log1p(slowdown))
}

// CV is the variation of p50 TPOT between runs of an engine whose own is noise:
// with replayed arrivals that of a difference ÷ √2, as Replayed takes it, else
// with their luck.
func (l Load) CV(layout Layout, noise float64) float64 {
	if layout == Replayed {
		return l.Same * noise
	}
	return math.Hypot(l.Same*noise, l.Luck)
}

// Margin is the smallest margin on p50 TPOT that a look resolves at this load,
// with runs of an engine whose own variation is noise; the other arguments are
// those of Layout.Resolvable.
func (l Load) Margin(layout Layout, noise, level float64, m, n int) float64 {
	return math.Expm1(layout.Resolvable(l.CV(layout, noise), level, m, n))
}
