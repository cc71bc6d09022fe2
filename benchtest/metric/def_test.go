package metric

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// TestTableOfMetrics holds names, units, directions and formulas: they are in
// baselines and in users' tests.
func TestTableOfMetrics(t *testing.T) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, name := range Names() {
		d, ok := Lookup(name)
		if !ok || d.Name != name {
			t.Errorf("Lookup(%q) is %+v, %v", name, d, ok)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Name, d.Unit, d.Better, d.Scale, d.Note)
	}
	w.Flush()
	const path = "testdata/metrics.golden"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the table is now\n%s\nwant\n%s", &b, want)
	}
}

func TestEveryLatencyHasTheNamesOfTheContract(t *testing.T) {
	for _, stat := range strings.Fields("mean p50 p90 p95 p99 p999 max") {
		for _, l := range strings.Fields("ttft service-ttft tpot itl e2e lag") {
			d, ok := Lookup(stat + "-" + l + "-sec")
			if !ok || d.Unit != "sec" || d.Better != Lower {
				t.Errorf("%s-%s-sec: %+v, %v", stat, l, d, ok)
			}
		}
	}
	for _, name := range Names() {
		if strings.ContainsAny(name, " \t") || name != strings.ToLower(name) || strings.HasSuffix(name, "-") {
			t.Errorf("%q cannot be a unit of the Go benchmark format", name)
		}
	}
}

func TestChangeIsRelativeToTheOld(t *testing.T) {
	rows := []struct {
		old, new float64
		want     string // per cent, or the error
	}{
		{62.79, 57.80, "-7.9 %"}, // 8.6 % of the new one, as it was reported
		{3123.0, 2068.6, "-33.8 %"},
		{2068.6, 3123.0, "+51.0 %"},
		{5, 5, "+0.0 %"},
		{100, math.NaN(), "metric: no valid value to compare: old 100, new NaN"},
		{math.Inf(1), 100, "metric: no valid value to compare: old +Inf, new 100"},
		{0, 3, "metric: no relative change from zero to 3: compare the difference"},
	}
	for _, row := range rows {
		v, err := Change(row.old, row.new)
		got := fmt.Sprintf("%+.1f %%", 100*v)
		if err != nil {
			got = err.Error()
		}
		if got != row.want || math.IsNaN(v) {
			t.Errorf("from %v to %v: %s, want %s", row.old, row.new, got, row.want)
		}
	}
}

// TestWords: a row of a report says better or worse in words, so that a minus
// or a swapped column cannot be read the wrong way round.
func TestWords(t *testing.T) {
	rows := []struct {
		metric   string
		old, new float64
		want     string
	}{
		{"p50-ttft-sec", 2.0686, 3.1230, "worse"},
		{"p50-ttft-sec", 3.1230, 2.0686, "better"},
		{"output-tok/s", 10, 15, "better"},
		{"output-tok/s", 15, 10, "worse"},
		{"mean-output-tokens", 256, 88, "different"},
		{"error-rate", 0, 0, "equal"},
		{"error-rate", 0, 0.01, "worse"},
		{"p50-ttft-sec", 2, math.NaN(), "unknown"},
		{"output-tok/s", math.Inf(1), 3, "unknown"},
	}
	for _, row := range rows {
		d, _ := Lookup(row.metric)
		if got := d.Words(row.old, row.new); got != row.want {
			t.Errorf("%s from %v to %v is %s, want %s", row.metric, row.old, row.new, got, row.want)
		}
	}
}

func TestHash(t *testing.T) {
	a := []Pair{{"arrivals", "poisson 4/s"}, {"requests", "300"}}
	if got, want := Hash(a), "2811a5c435c6"; got != want {
		t.Errorf("the hash is %s, want %s: it is in every baseline", got, want)
	}
	others := [][]Pair{
		nil,
		{{"requests", "300"}, {"arrivals", "poisson 4/s"}},
		{{"arrivals", "poisson 4/s"}, {"requests", "301"}},
		{{"arrivals", "poisson 4/srequests300"}},
		{{"arrivalspoisson", " 4/s"}, {"requests", "300"}},
		{{"arrivals", "poisson 4/s"}, {"requests", "300"}, {"", ""}},
	}
	seen := []string{Hash(a)}
	for _, pairs := range others {
		h := Hash(pairs)
		if slices.Contains(seen, h) {
			t.Errorf("%v has the hash of other pairs, %s", pairs, h)
		}
		seen = append(seen, h)
	}
	if Hash(nil) != "" {
		t.Error("no pairs have a hash")
	}
}
