package assert

import (
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// estimate is a pooled value with its 95 % interval. Without one, why says so.
type estimate struct {
	value     float64
	low, high float64
	how, why  string
}

func (e estimate) interval() bool { return e.why == "" }

// inside reports that the bound lies in the interval, so that another set of
// runs could end on the other side of it.
func (e estimate) inside(bound float64) bool {
	return e.interval() && e.low <= bound && bound <= e.high
}

// ratio estimates Σnumerator ÷ Σdenominator over runs, with the t interval of
// a ratio: from the runs' own departures numerator − ratio·denominator. The
// run is the unit, because the requests of one are not independent. One run
// has no such interval.
func ratio(numerators, denominators []float64) estimate {
	n := len(numerators)
	var num, den float64
	for i := range numerators {
		num += numerators[i]
		den += denominators[i]
	}
	e := estimate{value: num / den}
	if n < 2 {
		e.why = "one run has no interval over runs"
		return e
	}
	var squares float64
	for i := range numerators {
		d := numerators[i] - e.value*denominators[i]
		squares += d * d
	}
	se := math.Sqrt(squares/float64(n-1)/float64(n)) / (den / float64(n))
	return e.over(n, se)
}

// over sets the t interval of an estimate from n runs with this standard
// error.
func (e estimate) over(n int, se float64) estimate {
	e.low, e.high = stat.Estimate{Diff: e.value, SE: se, DF: float64(n - 1)}.Interval(0.95)
	e.how = fmt.Sprintf("95 %%, t over %d runs", n)
	return e
}

// good counts the requests of each run that meet the SLO, and all that
// arrived.
func good(records []*metric.Record, slo metric.SLO) (good, total []float64) {
	for _, r := range records {
		g, n := r.Attainment(slo)
		good = append(good, float64(g))
		total = append(total, float64(n))
	}
	return good, total
}

// attainment is the pooled share of arrivals that met the SLO. One run's
// interval, and that of runs which agree to the last request, is Wilson's
// with the design effect of the requests' dependence.
func attainment(records []*metric.Record, slo metric.SLO) estimate {
	met, all := good(records, slo)
	e := ratio(met, all)
	if !e.interval() || e.low == e.high {
		var outcomes []bool
		for _, r := range records {
			for _, q := range r.Counted() {
				if q.Failure != metric.Aborted {
					outcomes = append(outcomes, slo.Good(q))
				}
			}
		}
		s := stat.Attainment(outcomes, 0.95)
		e = estimate{value: s.P, low: s.Low, high: s.High}
		e.how = fmt.Sprintf("95 %%, Wilson with a design effect of %s", rate(s.Deff))
		if len(records) == 1 {
			e.how += " within the one run"
		}
	}
	e.low, e.high = max(e.low, 0), min(e.high, 1)
	return e
}

func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += v
	}
	return s
}
