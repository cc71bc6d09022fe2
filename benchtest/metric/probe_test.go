package metric

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// probed is a run of ten requests with a TTFT of 100 ms, and of probes with
// these TTFTs, one a second, of which the last is scheduled at the window's
// end; 0 is a failure.
func probed(ttft ...int) *Record {
	r := window(repeat(10, streamed(2, 1, 100, 120))...)
	for i, ms := range ttft {
		p := Timeline{Phase: Probe, Scheduled: r.From + time.Duration(i)*(r.To-r.From)/time.Duration(len(ttft)-1), OutputTokens: 1, FirstTokens: 1}
		if ms == 0 {
			p.Failure = "refused"
		} else {
			p.FirstToken = p.Scheduled + time.Duration(ms)*time.Millisecond
			p.LastToken, p.Events = p.FirstToken, 1
		}
		r.Probes = append(r.Probes, p)
	}
	return r
}

func TestProbesAreNoneOfTheLoad(t *testing.T) {
	with := probed(30, 20, 0, 10, 40, 7)
	without := probed()
	for _, name := range Names() {
		a, errA := with.Value(name)
		b, errB := without.Value(name)
		if !strings.Contains(name, "probe-") {
			if a != b || (errA == nil) != (errB == nil) {
				t.Errorf("%s is %v (%v) with probes and %v (%v) without", name, a, errA, b, errB)
			}
			continue
		}
		if absent := (*Absent)(nil); !errors.As(errB, &absent) || absent.Why != string(errNoProbes) {
			t.Errorf("without probes %s is %v, %v", name, b, errB)
		}
	}
	if got, want := len(with.Counted()), len(without.Counted()); got != want {
		t.Errorf("%d requests counted with probes, %d without", got, want)
	}
	for name, want := range map[string]float64{
		"p50-probe-ttft-sec": 0.020, "max-probe-ttft-sec": 0.040, "mean-probe-ttft-sec": 0.025, "probe-error-rate": 0.2,
	} {
		if got, err := with.Value(name); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", name, got, err, want)
		}
	}
	if _, err := with.Value("p99-probe-ttft-sec"); !errors.As(err, new(*TooFew)) {
		t.Errorf("the p99 of four probes: %v", err)
	}
}

func TestProbesAreChecked(t *testing.T) {
	for want, edit := range map[string]func(*Record){
		"probes[1].scheduled":              func(r *Record) { r.Probes[1].Scheduled = 0 },
		"probes[0].first_token":            func(r *Record) { r.Probes[0].FirstToken = 0 },
		"client.readings.achieved":         func(r *Record) { r.Client.Readings = map[string]float64{"achieved": math.NaN()} },
		"client.readings.lag_p99_sec must": func(r *Record) { r.Client.Readings = map[string]float64{"lag_p99_sec": math.Inf(1)} },
	} {
		r := probed(30, 20)
		r.Schema = Schema
		edit(r)
		field, why := r.check()
		if got := field + " " + why; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want it to begin with %q", got, want)
		}
	}
}
