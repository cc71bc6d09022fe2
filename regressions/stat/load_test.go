package stat_test

import (
	"math"
	"testing"

	"github.com/openloop-go/openloop/regressions/stat"
)

// What is published of p50 TPOT with a decode 10 % slower on an engine with 2 %
// of noise, in runs of 300 requests: the CV of a run, the effect, and the
// effect as a multiple of the standard deviation of a difference of two runs,
// with other arrivals and the same. Another model of the engine gave it, and
// every standard deviation is known to some per cent.
func TestLoadsAgainstWhatIsPublished(t *testing.T) {
	for _, row := range []struct{ rate, cv, effect, other, same float64 }{
		{2, 0.025, 0.104, 2.9, 3.5},
		{5, 0.036, 0.115, 2.2, 3.0},
		{8, 0.055, 0.131, 1.7, 2.8},
		{10, 0.077, 0.149, 1.4, 2.5},
		{12, 0.103, 0.184, 1.2, 2.3},
		{12.5, 0.107, 0.190, 1.1, 2.3},
	} {
		l, err := stat.AtLoad(row.rate / 14.1)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want, relative float64) {
			t.Helper()
			if !(math.Abs(got/want-1) <= relative) {
				t.Errorf("%g req/s: %s %.4g, want %.4g ± %.0f %%", row.rate, what, got, want, 100*relative)
			}
		}
		effect := math.Log1p(l.Shows(0.10))
		near("effect", l.Shows(0.10), row.effect, 0.06)
		near("CV", l.CV(stat.Stored, 0.02), row.cv, 0.20)
		near("s/n, other arrivals", effect/(math.Sqrt2*l.CV(stat.Stored, 0.02)), row.other, 0.20)
		near("s/n, same arrivals", effect/(math.Sqrt2*l.CV(stat.Replayed, 0.02)), row.same, 0.15)
	}
}

func TestWhatAMarginStandsFor(t *testing.T) {
	for _, row := range []struct{ share, margin, want float64 }{
		{0, 0.05, 0.05},
		{4 / 14.1, 0.05, 0.0445},
		{1.0 / 3, 0.05, 0.0434},
		{stat.MaxShare, 0.05, 0.0266},
		{stat.MaxShare, 0.10, 0.0526},
		{0.5, 0, 0},
	} {
		l, err := stat.AtLoad(row.share)
		if err != nil {
			t.Fatal(err)
		}
		got := l.StandsFor(row.margin)
		if math.Abs(got-row.want) > 0.0005 {
			t.Errorf("at %.3f a margin of %v stands for %.4f, want %.4f", row.share, row.margin, got, row.want)
		}
		if back := l.Shows(got); math.Abs(back-row.margin) > 1e-12 {
			t.Errorf("at %.3f a slowdown of %.4f shows as %v, want %v", row.share, got, back, row.margin)
		}
	}
}

// The nearer the capacity, the more a load amplifies, noise more than the
// effect, and the larger the margin that twelve pairs resolve.
func TestLoadsAmplifyNoiseMore(t *testing.T) {
	before, err := stat.AtLoad(0)
	if err != nil {
		t.Fatal(err)
	}
	for share := 0.01; share < stat.MaxShare; share += 0.01 {
		l, err := stat.AtLoad(share)
		if err != nil {
			t.Fatal(err)
		}
		if l.Share != share || l.Effect <= before.Effect || l.Same <= before.Same || l.Luck < before.Luck || l.Same < l.Effect ||
			l.Margin(stat.Replayed, 0.01, 0.0166, 12, 12) <= before.Margin(stat.Replayed, 0.01, 0.0166, 12, 12) {
			t.Errorf("%+v after %+v", l, before)
		}
		before = l
	}
}

func TestALoadThatIsUnknown(t *testing.T) {
	for share, want := range map[float64]string{
		-0.1:        "stat: the share of the capacity must be from 0 to 0.887, got -0.1: beyond the knee latencies depend on how long one ran",
		0.95:        "stat: the share of the capacity must be from 0 to 0.887, got 0.95: beyond the knee latencies depend on how long one ran",
		math.Inf(1): "stat: the share of the capacity must be from 0 to 0.887, got +Inf: beyond the knee latencies depend on how long one ran",
	} {
		if l, err := stat.AtLoad(share); err == nil || err.Error() != want || l != (stat.Load{}) {
			t.Errorf("got %+v, %v\nwant %s", l, err, want)
		}
	}
	if _, err := stat.AtLoad(math.NaN()); err == nil {
		t.Error("NaN is a load")
	}
}
