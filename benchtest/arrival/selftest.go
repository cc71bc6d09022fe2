package arrival

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// sigmas is how far a schedule may be from what was asked. A correct one is
// further off by chance less than once in 10⁹.
const sigmas = 7.0

// SelfTest reports whether times, a schedule from its beginning on, can be a
// schedule of p: that it starts at zero or later and never decreases, and
// that the number of arrivals and the dispersion of their gaps are within
// sampling error, seven standard deviations, of what p asks for. An error
// names the quantity with what was asked, what was found and what chance
// allows.
//
// Constant is checked arrival by arrival. The processes with a varying rate
// are checked on the time scale that makes them Poisson of rate 1. Dispersion
// is checked from 100 gaps on, or 100/Burstiness where that is more. Of a
// process that is not from this package the mean is checked, where it has
// MeanRate, and not the dispersion, which is taken as found.
func SelfTest(times []time.Duration, p Process) error {
	if err := Validate(p); err != nil {
		return err
	}
	if len(times) == 0 {
		return errors.New("arrival: the schedule is empty: it needs at least one arrival to test")
	}
	if times[0] < 0 {
		return fmt.Errorf("arrival: the first arrival is at %v: a schedule counts from zero", times[0])
	}
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] {
			return fmt.Errorf("arrival: arrival %d is at %v, before arrival %d at %v: a schedule never decreases", i, times[i], i-1, times[i-1])
		}
	}
	switch p := p.(type) {
	case Constant:
		return testConstant(times, p)
	case Poisson:
		return testUnit(times, p, p.Rate, 1)
	case Gamma:
		return testUnit(times, p, p.Rate, 1/p.Burstiness)
	case Ramp:
		return testVarying(times, p, p.profile())
	case Steps:
		return testVarying(times, p, p.profile())
	}
	return testForeign(times, p)
}

func testConstant(times []time.Duration, p Constant) error {
	for i, t := range times {
		if want, _ := (count{whole: uint64(i)}).at(p.Rate); (t - want).Abs() > 1 {
			return fmt.Errorf("arrival: %v has arrival %d at %v, want %v", p, i, t, want)
		}
	}
	return nil
}

// testUnit tests gaps that, times rate, have mean 1 and variance c2.
func testUnit(times []time.Duration, p Process, rate, c2 float64) error {
	gaps := make([]float64, len(times))
	var last time.Duration
	for i, t := range times {
		gaps[i] = (t - last).Seconds() * rate
		last = t
	}
	return testGaps(p, gaps, last.Seconds()*rate, c2)
}

func testVarying(times []time.Duration, p Process, rate profile) error {
	gaps := make([]float64, len(times))
	var last float64
	for i, t := range times {
		u := rate.expected(t)
		gaps[i] = u - last
		last = u
	}
	return testGaps(p, gaps, last, 1)
}

// testGaps tests independent gamma gaps of mean 1 and variance c2 whose sum
// is sum.
//
// testMean's limit: the sum S of n of them has variance v = n·c2 and is
// sub-gamma with scale c2, so that P(|S − n| > √(2vx) + c2·x) ≤ 2e⁻ˣ
// (Boucheron, Lugosi and Massart, "Concentration Inequalities", 2013, section
// 2.4); x = 7²/2 makes the first term seven standard deviations.
//
// Their sample squared coefficient of variation has, by the delta method,
// variance (2c2² + 2c2³)/n. It is compared on the log scale, where its
// distribution is nearly symmetric.
func testGaps(p Process, gaps []float64, sum, c2 float64) error {
	if err := testMean(p, len(gaps), sum, c2); err != nil {
		return err
	}
	if float64(len(gaps)) < minDispersion*max(1, c2) {
		return nil
	}
	got := cv2(gaps)
	factor := math.Exp(sigmas * math.Sqrt((2+2*c2)/float64(len(gaps))))
	if !(got >= c2/factor && got <= c2*factor) {
		return fmt.Errorf("arrival: %s asks for gaps with a squared coefficient of variation of %.3g, the schedule has %.3g: chance explains %.3g to %.3g in %d gaps",
			String(p), c2, got, c2/factor, c2*factor, len(gaps))
	}
	return nil
}

// minDispersion is the number of gaps from which dispersion is tested, more
// where few of them hold most of the time. With fewer the sample's own
// distribution is too far from normal for seven deviations to mean anything.
const minDispersion = 100

// testForeign tests the mean of a process that tells it, with the dispersion
// that the schedule has, or Poisson's where that is larger.
func testForeign(times []time.Duration, p Process) error {
	r, ok := p.(rater)
	if !ok {
		return nil
	}
	last := times[len(times)-1]
	return testMean(p, len(times), r.MeanRate(last)*last.Seconds(), max(1, GapCV2(times)))
}

// testMean compares n arrivals with the number asked for by the last of them.
func testMean(p Process, n int, asked, c2 float64) error {
	allowed := sigmas*math.Sqrt(float64(n)*c2) + sigmas*sigmas/2*c2
	if diff := math.Abs(asked - float64(n)); !(diff <= allowed) {
		return fmt.Errorf("arrival: %s asks for %.1f arrivals by the schedule's last one, which is number %d: chance explains a difference of %.1f, not %.1f",
			String(p), asked, n, allowed, diff)
	}
	return nil
}
