package metric

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// fail makes q a failure of that class.
func fail(q Timeline, class string) Timeline {
	q.Failure = class
	return q
}

// window is a run of the given requests with a window of 1 s to 11 s.
func window(requests ...Timeline) *Record {
	return &Record{Schema: Schema, From: time.Second, To: 11 * time.Second, Requests: requests}
}

func repeat(n int, q Timeline) []Timeline {
	all := make([]Timeline, n)
	for i := range all {
		all[i] = q
	}
	return all
}

func TestEmptySuccessesAreFailures(t *testing.T) {
	// Six of ten replies were 200 and had no token; a client that counts them
	// as successes has a median TTFT of zero.
	r := window(append(repeat(6, streamed(0, -1)), streamed(2, 1, 100, 120), streamed(2, 1, 110, 130), streamed(2, 1, 120, 140), streamed(2, 1, 130, 150))...)
	if v, err := r.Value("p50-ttft-sec"); err != nil || v != 0.110 {
		t.Errorf("median TTFT is %v (%v), want that of the four with tokens, 0.11", v, err)
	}
	if v, err := r.Value("error-rate"); err != nil || v != 0.6 {
		t.Errorf("error rate is %v (%v), want 0.6", v, err)
	}
}

func TestOneTokenOutputsHaveTTFTAndNoTPOT(t *testing.T) {
	r := window(repeat(20, streamed(1, 1, 80))...)
	if v, err := r.Value("p50-ttft-sec"); err != nil || v != 0.080 {
		t.Errorf("TTFT is %v (%v), want 0.08", v, err)
	}
	for _, name := range []string{"p50-tpot-sec", "mean-tpot-sec", "p50-itl-sec", "max-itl-sec", "mean-itl-sec"} {
		v, err := r.Value(name)
		want := name + " is absent: none of 20 successful requests has it (one "
		if a := (*Absent)(nil); !errors.As(err, &a) || !strings.HasPrefix(err.Error(), want) || v != 0 {
			t.Errorf("%s is %v, %v, want the error %q", name, v, err, want)
		}
	}
}

// TestMissingIsItsOwnState holds every metric of runs that have little or
// nothing: an error that says why, and no number.
func TestMissingIsItsOwnState(t *testing.T) {
	unknown := streamed(-1, -1, 100, 200)
	const n = 10_000 // enough for every percentile
	rows := []struct {
		name string
		r    *Record
		has  string // the metrics that are there, by parts of their names
		why  string // of p50-ttft-sec
	}{
		{"no requests", window(), "completed tok/s", "p50-ttft-sec is absent: the window has no requests"},
		{"no window", &Record{Requests: repeat(n, unknown)}, "whole-run", "p50-ttft-sec is absent: the window has no requests"},
		{"all failed", window(repeat(n, fail(streamed(0, -1), "refused"))...), "-rate -lag- completed tok/s", "p50-ttft-sec is absent: none of 10,000 requests succeeded"},
		{"all stopped", window(repeat(n, fail(streamed(0, -1), Aborted))...), "-lag- completed tok/s", "p50-ttft-sec is absent: none of 10,000 requests succeeded"},
		{"no counts from the server", window(repeat(n, unknown)...), "-ttft- -itl- -e2e- -lag- -rate completed whole-run", ""},
	}
	for _, row := range rows {
		for _, name := range Names() {
			if strings.Contains(name, "probe-") {
				continue // see TestProbesAreNoneOfTheLoad
			}
			v, err := row.r.Value(name)
			if math.IsNaN(v) || math.IsInf(v, 0) || (err != nil && v != 0) {
				t.Errorf("%s: %s is %v with error %v", row.name, name, v, err)
			}
			has := false
			for word := range strings.FieldsSeq(row.has) {
				has = has || strings.Contains(name, word)
			}
			if has != (err == nil) {
				t.Errorf("%s: %s is %v, %v; want it there: %v", row.name, name, v, err, has)
			}
		}
		if _, err := row.r.Value("p50-ttft-sec"); row.why != "" && (err == nil || err.Error() != row.why) {
			t.Errorf("%s: %v, want %q", row.name, err, row.why)
		}
	}
}

func TestTooFewRequestsForAPercentile(t *testing.T) {
	r := window(repeat(300, streamed(3, 1, 100, 120, 140))...)
	_, err := r.Value("p99-ttft-sec")
	if few := (*TooFew)(nil); !errors.As(err, &few) || few.N != 300 || few.Need != 1000 || err.Error() != "p99 of 300 values: needs 1,000" {
		t.Errorf("p99 of 300 requests: %v", err)
	}
	if v, err := r.Value("p95-ttft-sec"); err != nil || v != 0.1 {
		t.Errorf("p95 of 300 requests is %v, %v", v, err)
	}
}

func TestTokensASecondHaveThreeNames(t *testing.T) {
	q := streamed(10, 1, 100, 1000)
	q.PromptTokens = 1000
	r := window(q)
	r.To = 2*time.Second + 1 // the last token, at 2 s, is inside
	r.From = r.To - time.Second
	for name, want := range map[string]float64{"output-tok/s": 10, "prompt-tok/s": 1000, "total-tok/s": 1010, "completed-req/s": 1} {
		if v, err := r.Value(name); err != nil || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, err, want)
		}
	}
}

func TestRateOfTheWindowHasNoDrain(t *testing.T) {
	// 100 requests finish evenly over 10 s; one straggler ends at 60 s.
	r := &Record{From: 0, To: 10 * time.Second}
	for i := range 100 {
		q := streamed(1, 1)
		q.Scheduled, q.FirstToken = time.Duration(i)*100*ms, time.Duration(i)*100*ms+50*ms
		q.LastToken = q.FirstToken
		r.Requests = append(r.Requests, q)
	}
	straggler := streamed(1, 1)
	straggler.Scheduled, straggler.FirstToken, straggler.LastToken = 9950*ms, 59*time.Second, 60*time.Second
	r.Requests = append(r.Requests, straggler)
	if v, err := r.Value("completed-req/s"); err != nil || v != 10 {
		t.Errorf("rate of the window is %v (%v), want 10", v, err)
	}
	if v, err := r.Value("whole-run-req/s"); err != nil || math.Abs(v-101.0/60) > 1e-12 {
		t.Errorf("rate of the whole run is %v (%v), want 101/60", v, err)
	}
}

func TestTotals(t *testing.T) {
	served := streamed(20, 1, 100, 200)
	served.PromptTokens, served.CachedTokens = 100, 25
	short := streamed(10, 1, 100, 200)
	short.PromptTokens, short.CachedTokens = 300, 0
	r := window(served, short, fail(streamed(0, -1), "status"), fail(streamed(4, 1, 100, 200), Unfinished), fail(streamed(0, -1), Aborted))
	for name, want := range map[string]float64{
		"error-rate":         0.5, // 2 of 4, the aborted one left out
		"unfinished-rate":    0.25,
		"mean-output-tokens": 15,
		"mean-prompt-tokens": 200,
		"cached-share":       25.0 / 400,
		"completed-req/s":    0.2,
		"output-tok/s":       3,
	} {
		if v, err := r.Value(name); err != nil || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, err, want)
		}
	}
	served.OutputTokens = -1
	r.Requests[0] = served
	for _, name := range []string{"output-tok/s", "total-tok/s", "mean-output-tokens"} {
		want := name + " is absent: 1 request has no count of tokens from the server"
		if v, err := r.Value(name); err == nil || err.Error() != want {
			t.Errorf("%s with a count missing is %v (%v), want %q", name, v, err, want)
		}
	}
}

func TestUnknownMetric(t *testing.T) {
	rows := map[string]string{
		"p98-ttft-sec": `metric: unknown metric "p98-ttft-sec": there are mean-ttft-sec, p50-ttft-sec, `,
		"ttft":         `metric: unknown metric "ttft": there are mean-ttft-sec, `,
		"throughput":   `metric: unknown metric "throughput": there are error-rate, `,
	}
	for name, want := range rows {
		if _, err := window().Value(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s…", err, want)
		}
		if _, ok := Lookup(name); ok {
			t.Errorf("Lookup knows %q", name)
		}
	}
}

func BenchmarkValue(b *testing.B) {
	r := window()
	for i := range 2000 {
		q := streamed(256, 1, 100+i*7919%400, 3000+i*104729%900)
		r.Requests = append(r.Requests, q)
	}
	r.Summarise()
	for _, name := range []string{"p50-tpot-sec", "p99-ttft-sec", "p50-itl-sec", "mean-e2e-sec", "error-rate", "output-tok/s"} {
		b.Run(fmt.Sprint(strings.ReplaceAll(name, "/", " a ")), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := r.Value(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Goodput and attainment are of the point's SLO; what was refused counts as a
// miss, and a point without an SLO, or in a closed loop, has neither.
func TestGoodputOfThePointsSLO(t *testing.T) {
	r := window(streamed(2, 1, 100, 120), streamed(2, 1, 700, 720), fail(streamed(0, 0), "refused"), streamed(2, 1, 100, 150))
	r.To = r.From + 2*time.Second
	r.SLO = SLO{TTFT: 500 * ms, TPOT: 40 * ms}
	for name, want := range map[string]float64{"goodput-req/s": 0.5, "attainment": 0.25} {
		if v, err := r.Value(name); err != nil || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, err, want)
		}
	}
	none, loop := *r, *r
	none.SLO, loop.InFlight = SLO{}, 4
	for _, row := range []struct {
		r    *Record
		want string
	}{
		{&none, "goodput-req/s is absent: the point has no SLO: set Point.SLO"},
		{&loop, "goodput-req/s is absent: no goodput of a closed loop of 4 in flight: its load follows the server; use an open loop"},
	} {
		if v, err := row.r.Value("goodput-req/s"); err == nil || err.Error() != row.want {
			t.Errorf("%v, %v, want %q", v, err, row.want)
		}
	}
}
