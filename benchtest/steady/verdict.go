package steady

import (
	"errors"
	"fmt"
	"math"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// State is the outcome of a stability verdict.
type State string

const (
	// Growing: the backlog grew by more than chance explains. No latency of
	// this load means anything but how long the run lasted.
	Growing State = "growing"
	// Sustained: the number in flight returned to a level, or grew by less
	// than 5 % of the arrivals.
	Sustained State = "sustained"
	// Undecided: neither can be said of this many arrivals.
	Undecided State = "undecided"
)

// The verdict's constants: one-sided 2.5 % for growing, one-sided 5 % for the
// bound on growth, and the growth, as a share of the arrivals, that sustained
// tolerates.
const (
	growingZ  = 1.96
	boundZ    = 1.645
	tolerated = 0.05
)

// Verdict is the stability of a point, over all of its runs.
type Verdict struct {
	// State is the verdict in one word; empty is none.
	State State
	// Runs and Arrivals are what was judged, C2 the variance of the number in
	// flight an arrival.
	Runs, Arrivals int
	C2             float64
	// Z is the growth in standard deviations; above 1.96 is growing.
	Z float64
	// DF is the runs' mean Dickey–Fuller t; below DFCritical is sustained.
	DF, DFCritical float64
	// Growth is by how many requests the backlog grew an arrival, and
	// GrowthUpper its upper 95 % bound; a bound below 0.05 is sustained.
	Growth, GrowthUpper float64
	// Resolution is the smallest load ρ = λ/μ above 1 that would have been
	// called growing with 80 % power; zero when these arrivals could not have
	// shown any.
	Resolution float64
	// Overload is what can be said past saturation; nil unless growing.
	Overload *Overload
}

// Judge gives the verdict on a point from the series of its runs. It needs at
// least one.
//
//  1. Growing, if g/√(ĉ²n') > 1.96, with g the growth over n' arrivals,
//     summed over the runs.
//  2. Else sustained, if the mean Dickey–Fuller t is below its 5 % point, or
//     if the upper bound of the growth is below 5 % of the arrivals.
//  3. Else undecided.
//
// The growth that rule 2 tolerates lets a load of up to 5 % above capacity
// pass as sustained: what it says is that the backlog grew by less than that.
func Judge(series ...Series) (Verdict, error) {
	if len(series) == 0 {
		return Verdict{}, errors.New("steady: no runs to judge")
	}
	v := Verdict{Runs: len(series), DFCritical: critical(len(series))}
	var growth, variance float64
	for i, s := range series {
		if s.Arrivals < minArrivals || s.Window <= 0 {
			return Verdict{}, fmt.Errorf("steady: run %d has %d arrivals in a window of %v: the verdict needs at least %d", i, s.Arrivals, s.Window, minArrivals)
		}
		for name, x := range map[string]float64{"GapCV2": s.GapCV2, "OutputCV2": s.OutputCV2} {
			if !(x >= 0) || math.IsInf(x, 1) {
				return Verdict{}, fmt.Errorf("steady: run %d has a %s of %v: it must be finite and not negative", i, name, x)
			}
		}
		v.Arrivals += s.Arrivals
		growth += s.growth()
		variance += s.variance()
		v.DF += s.dickeyFuller() / float64(len(series))
	}
	n := float64(v.Arrivals)
	v.C2 = variance / n
	v.Z = growth / math.Sqrt(variance)
	v.Growth = growth / n
	v.GrowthUpper = (growth + boundZ*math.Sqrt(variance)) / n
	v.Resolution = resolution(v.C2, n)
	switch {
	case v.Z > growingZ:
		v.State = Growing
		v.Overload = overload(series, growth)
	case v.DF < v.DFCritical || v.GrowthUpper < tolerated:
		v.State = Sustained
	default:
		v.State = Undecided
	}
	return v, nil
}

// JudgeRecords is Judge on the series of records, which are runs of one
// point.
func JudgeRecords(records ...*metric.Record) (Verdict, error) {
	series := make([]Series, len(records))
	for i, r := range records {
		var err error
		if series[i], err = Of(r); err != nil {
			return Verdict{}, err
		}
	}
	v, err := Judge(series...)
	if v.Overload != nil {
		v.Overload.ClientLimit = limiting(records)
	}
	return v, err
}

// resolution is the load whose drift, 1 − 1/ρ an arrival, is 2.8 standard
// deviations of the growth over n arrivals: 1.96 for the verdict and 0.84 for
// a power of 80 %. It is zero where that drift is more than all arrivals.
func resolution(c2, n float64) float64 {
	drift := 2.8 * math.Sqrt(c2/n)
	if drift >= 1 {
		return 0
	}
	return 1 / (1 - drift)
}

// ArrivalsNeeded is the number of arrivals, over all runs, at which a load of
// rho times the capacity would be called growing with 80 % power:
// 7.85·c²/(1 − 1/ρ)². It is zero for a rho that is not above 1, which no
// number of arrivals shows to be growing.
func (v Verdict) ArrivalsNeeded(rho float64) int {
	if !(rho > 1) {
		return 0
	}
	drift := 1 - 1/rho
	n := math.Ceil(7.85 * v.C2 / (drift * drift))
	if n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(n)
}

// String is the verdict with its reason in one sentence.
func (v Verdict) String() string {
	of := fmt.Sprintf("%s, %s", count(v.Runs, "run"), count(v.Arrivals, "arrival"))
	switch v.State {
	case Growing:
		return fmt.Sprintf("growing: %v; z %.1f, above %.2f (%s)", v.Overload, v.Z, growingZ, of)
	case Sustained:
		if v.DF < v.DFCritical {
			return fmt.Sprintf("sustained: the number in flight returns to a level, Dickey–Fuller t %.2f, below %.2f (%s)", v.DF, v.DFCritical, of)
		}
		return fmt.Sprintf("sustained: the backlog grew by at most %.1f %% of the arrivals, tolerated are %.0f %% (%s)", 100*v.GrowthUpper, 100*tolerated, of)
	case Undecided:
		sees := "can show no overload at all"
		if v.Resolution > 0 {
			sees = fmt.Sprintf("show an overload of %.1f %% or more", 100*(v.Resolution-1))
		}
		return fmt.Sprintf("undecided: %s %s; one of 5 %% takes %s (z %.1f, Dickey–Fuller t %.2f, critical %.2f)",
			of, sees, count(v.ArrivalsNeeded(1.05), "arrival"), tidy(v.Z, 10), tidy(v.DF, 100), v.DFCritical)
	}
	return "no verdict"
}

// tidy rounds x to parts of one, and -0 to 0.
func tidy(x, parts float64) float64 { return math.Round(x*parts)/parts + 0 }
