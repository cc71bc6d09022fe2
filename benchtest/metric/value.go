package metric

import (
	"fmt"
	"strings"
	"time"
)

// Absent says why a run does not have a metric.
type Absent struct {
	// Metric is the metric's name, Why the reason.
	Metric, Why string
}

// Error is, for example, "p50-tpot-sec is absent: none of 300 requests
// succeeded".
func (e *Absent) Error() string { return fmt.Sprintf("%s is absent: %s", e.Metric, e.Why) }

// Value is the metric of that name over the window of the run. It is never
// NaN. The error is *Absent where the run does not have the metric, *TooFew
// where the window is too small for the quantile, and another for a name that
// Lookup does not know.
//
// Latencies are over successful requests; failures show in "error-rate". The
// "itl" metrics are over gaps between events, and a quantile of them counts
// gaps, not requests; see GapsAreTokens. Throughputs count what ended inside
// the window, whenever it was scheduled. The "probe-" metrics are over the
// single-token requests beside the load (Record.Probes), and no other metric
// is.
func (r *Record) Value(name string) (float64, error) { return PooledValue(name, r) }

// PooledValue is the metric over the windows of several runs together, as if
// they were one: quantiles are of all values, never means of quantiles. (Gap
// quantiles of several runs are good to one part in a thousand, see
// GapSummary.) The runs' spread is lost; what is tested for change is one
// Value a run.
func PooledValue(name string, records ...*Record) (float64, error) {
	i, ok := index[name]
	if !ok {
		return 0, unknown(name)
	}
	v, err := defs[i].value(records)
	if why, ok := err.(whyAbsent); ok {
		return 0, &Absent{Metric: name, Why: string(why)}
	}
	return v, err
}

// unknown names a metric that does not exist and those that look like it.
func unknown(name string) error {
	var like []string
	for _, d := range defs {
		if strings.Contains(d.Name, "probe-") != strings.Contains(name, "probe") {
			continue
		}
		for _, l := range latencies {
			if strings.Contains(name, l.name) && strings.HasSuffix(d.Name, "-"+l.name+"-sec") {
				like = append(like, d.Name)
			}
		}
	}
	if like == nil {
		for _, d := range totals {
			like = append(like, d.Name)
		}
		like = append(like, "p50-ttft-sec and other quantiles")
	}
	return fmt.Errorf("metric: unknown metric %q: there are %s", name, strings.Join(like, ", "))
}

// whyAbsent is the reason of an *Absent whose name is not yet known.
type whyAbsent string

func (w whyAbsent) Error() string { return string(w) }

// errNoProbes is the reason why metrics of probes are absent of most runs.
const errNoProbes = whyAbsent("no probes were sent in the window: the point asks for none, or for too few")

// absent is the reason why requests have no value.
func (l latency) absent(arrivals, succeeded int) error {
	switch {
	case arrivals == 0 && l.of != nil:
		return errNoProbes
	case arrivals == 0:
		return whyAbsent("the window has no requests")
	case succeeded == 0:
		return whyAbsent(fmt.Sprintf("none of %s requests succeeded", thousands(arrivals)))
	}
	why := fmt.Sprintf("none of %s successful requests has it", thousands(succeeded))
	if l.lacks != "" {
		why += " (" + l.lacks + ")"
	}
	return whyAbsent(why)
}

// mean is the mean over the windows of records, in seconds.
func (l latency) mean(records []*Record) (float64, error) {
	if l.get == nil {
		g, err := l.gaps(records)
		if err != nil {
			return 0, err
		}
		return g.Sum.Seconds() / float64(g.N), nil
	}
	values, err := l.values(records)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, v := range values {
		sum += v
	}
	return sum.Seconds() / float64(len(values)), nil
}

// quantile is the p-quantile over the windows of records, in seconds.
func (l latency) quantile(records []*Record, p float64) (float64, error) {
	if l.get == nil {
		return l.gapQuantile(records, p)
	}
	values, err := l.values(records)
	if err != nil {
		return 0, err
	}
	if err := enough(len(values), p); err != nil {
		return 0, err
	}
	return nearest(values, p).Seconds(), nil
}

func (l latency) gapQuantile(records []*Record, p float64) (float64, error) {
	g, err := l.gaps(records)
	if err != nil {
		return 0, err
	}
	if err := enough(g.N, p); err != nil {
		return 0, err
	}
	q := g.quantile(p)
	if q == 0 {
		return 0, whyAbsent(fmt.Sprintf("%s of %s gaps are zero: events arrive several at a time", thousands(g.Zeros), thousands(g.N)))
	}
	return q.Seconds(), nil
}

// gaps is the summary of all gaps, of which there is at least one.
func (l latency) gaps(records []*Record) (GapSummary, error) {
	all := make([]GapSummary, len(records))
	for i, r := range records {
		all[i] = r.gaps()
	}
	g, err := mergeGaps(all)
	if err != nil || g.N > 0 {
		return g, err
	}
	arrivals, succeeded := 0, 0
	for _, r := range records {
		for _, t := range r.Counted() {
			arrivals++
			if !t.Failed() {
				succeeded++
			}
		}
	}
	return g, l.absent(arrivals, succeeded)
}
