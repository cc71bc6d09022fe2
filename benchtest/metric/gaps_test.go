package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// random is a run whose requests have gaps between lo and hi.
func random(seed uint64, requests, tokens int, lo, hi time.Duration) *Record {
	g := rand.New(rand.NewPCG(seed, 1))
	r := &Record{Schema: Schema, From: time.Second, To: time.Hour, PointName: "poisson-4", Rate: 4, GapCV2: 1}
	for i := range requests {
		q := streamed(tokens, 1)
		q.Scheduled += time.Duration(i) * 100 * ms
		q.Sent = q.Scheduled + time.Duration(g.IntN(1000))
		at := q.Sent + 50*ms + time.Duration(g.IntN(int(50*ms)))
		q.FirstToken, q.PromptTokens, q.CachedTokens, q.AskedPrompt, q.AskedOutput = at, 2048, g.IntN(100), 2048, tokens
		q.Events, q.TokenGaps = tokens, true
		for range tokens - 1 {
			gap := lo + time.Duration(g.Int64N(int64(hi-lo)))
			q.Gaps = append(q.Gaps, gap)
			at += gap
		}
		q.LastToken, q.Closed = at, at
		r.Requests = append(r.Requests, q)
	}
	return r
}

func TestFirstTokenIsNoGap(t *testing.T) {
	r := window(streamed(3, 1, 100, 120, 140))
	if v, err := r.Value("max-itl-sec"); err != nil || v != 0.020 {
		t.Errorf("longest gap is %v (%v), want 0.02: the time to the first token is not one", v, err)
	}
	if n := r.gaps().N; n != 2 {
		t.Errorf("three tokens have %d gaps, want 2", n)
	}
}

func TestGapQuantilesAreExact(t *testing.T) {
	r := random(1, 200, 60, 5*ms, 90*ms)
	r.Requests[3].Failure = "reset" // its gaps do not count
	var all []time.Duration
	for i, q := range r.Requests {
		if i != 3 {
			all = append(all, q.Gaps...)
		}
	}
	slices.Sort(all)
	for name, p := range map[string]float64{"p50-itl-sec": 0.5, "p90-itl-sec": 0.9, "p95-itl-sec": 0.95, "p99-itl-sec": 0.99, "p999-itl-sec": 0.999, "max-itl-sec": 1} {
		if v, err := r.Value(name); err != nil || v != nearest(all, p).Seconds() {
			t.Errorf("%s is %v (%v), want %v", name, v, err, nearest(all, p).Seconds())
		}
	}
}

// TestPausesShowInTheTail: medians are equal with and without one long pause
// in each 200 tokens; the tail is not.
func TestPausesShowInTheTail(t *testing.T) {
	smooth, paused := random(2, 100, 200, 10*ms, 10*ms+2), random(2, 100, 200, 10*ms, 10*ms+2)
	for i := range paused.Requests {
		paused.Requests[i].Gaps[150] = 400 * ms
	}
	for name, ratio := range map[string]float64{"p50-itl-sec": 1, "max-itl-sec": 40} {
		a, err1 := smooth.Value(name)
		b, err2 := paused.Value(name)
		if err1 != nil || err2 != nil || math.Abs(b/a-ratio) > 1e-5 {
			t.Errorf("%s: %v without pauses, %v with, want %v times as long", name, a, b, ratio)
		}
	}
}

func TestPooledGapsMergeHistograms(t *testing.T) {
	fast, slow := random(3, 300, 100, 5*ms, 20*ms), random(4, 100, 100, 30*ms, 60*ms)
	slow.Summarise()
	var all []time.Duration
	for _, r := range []*Record{fast, slow} {
		for _, q := range r.Requests {
			all = append(all, q.Gaps...)
		}
	}
	slices.Sort(all)
	var sum time.Duration
	for _, g := range all {
		sum += g
	}
	for name, want := range map[string]float64{
		"p50-itl-sec": nearest(all, 0.5).Seconds(), "p99-itl-sec": nearest(all, 0.99).Seconds(), "p999-itl-sec": nearest(all, 0.999).Seconds(),
	} {
		if v, err := PooledValue(name, fast, slow); err != nil || math.Abs(v/want-1) > 1e-3 {
			t.Errorf("%s of both is %v (%v), want %v within one part in a thousand", name, v, err, want)
		}
	}
	if v, err := PooledValue("max-itl-sec", fast, slow); err != nil || v != all[len(all)-1].Seconds() {
		t.Errorf("max is %v (%v), want %v", v, err, all[len(all)-1].Seconds())
	}
	if v, err := PooledValue("mean-itl-sec", fast, slow); err != nil || v != sum.Seconds()/float64(len(all)) {
		t.Errorf("mean is %v (%v), want %v", v, err, sum.Seconds()/float64(len(all)))
	}
	slow.Gaps.Histogram = "no histogram"
	if _, err := PooledValue("p50-itl-sec", fast, slow); err == nil || !strings.HasPrefix(err.Error(), "metric: gaps.histogram cannot be read: ") {
		t.Errorf("pooling a broken histogram: %v", err)
	}
	other := random(5, 2, 3, ms, 2*ms)
	other.Summarise()
	slow.Gaps.Histogram = other.Gaps.Histogram
	if _, err := PooledValue("p50-itl-sec", fast, slow); err == nil || !strings.Contains(err.Error(), "gaps.histogram holds 4 gaps") {
		t.Errorf("pooling another run's histogram: %v", err)
	}
}

func TestHistogramIsReadByOthers(t *testing.T) {
	r := random(6, 50, 40, ms, 30*ms)
	r.Summarise()
	h, err := hdrhistogram.Decode([]byte(r.Gaps.Histogram))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != 50*39 || math.Abs(float64(h.ValueAtPercentile(50))/float64(r.Gaps.P50)-1) > 1e-3 {
		t.Errorf("it holds %d gaps with a median of %v, want %d and %v", h.TotalCount(), time.Duration(h.ValueAtPercentile(50)), 50*39, r.Gaps.P50)
	}
	if len(r.Gaps.Histogram) > 8<<10 {
		t.Errorf("it takes %d bytes", len(r.Gaps.Histogram))
	}
}

func TestZeroGapsAreBufferingNotSpeed(t *testing.T) {
	oneRead := streamed(8, -1, 300, 300, 300, 300, 300, 300, 300, 300)
	if oneRead.ZeroGaps != 7 || oneRead.GapMax != 0 {
		t.Errorf("%d zero gaps, longest %v, want 7 and 0", oneRead.ZeroGaps, oneRead.GapMax)
	}
	pairs := streamed(5, -1, 100, 100, 100, 140, 140)
	rows := []struct {
		name string
		r    *Record
		want string
	}{
		{"everything in one read", window(repeat(30, oneRead)...), "p50-itl-sec is absent: none of 30 successful requests has it (one event each, or all in one read)"},
		{"several events at a time", window(repeat(30, pairs)...), "p50-itl-sec is absent: 90 of 120 gaps are zero: events arrive several at a time"},
	}
	for _, row := range rows {
		if v, err := row.r.Value("p50-itl-sec"); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, %v, want %q", row.name, v, err, row.want)
		}
	}
	if v, err := window(repeat(30, pairs)...).Value("max-itl-sec"); err != nil || v != 0.04 {
		t.Errorf("longest gap is %v (%v), want 0.04", v, err)
	}
}

func TestGapsAreTokensOnlyWhenEveryEventCarriedOne(t *testing.T) {
	one, several, single := streamed(3, 1, 1, 2, 3), streamed(9, 1, 1, 2, 3), streamed(1, 1, 1)
	one.TokenGaps = true
	broken := fail(several, "reset")
	for _, row := range []struct {
		name string
		r    *Record
		want bool
	}{
		{"one token an event", window(one, one), true},
		{"several in some", window(one, several), false},
		{"replies of one event do not tell", window(one, single), true},
		{"nor do failures", window(one, broken), true},
		{"nothing to tell from", window(single), false},
		{"no requests", window(), false},
	} {
		if got := row.r.GapsAreTokens(); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func BenchmarkSummarise(b *testing.B) {
	r := random(1, 300, 256, 5*ms, 20*ms)
	b.ReportAllocs()
	for range b.N {
		r.Gaps = GapSummary{}
		r.Summarise()
	}
}
