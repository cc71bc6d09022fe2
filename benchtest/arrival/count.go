package arrival

import (
	"math"
	"math/bits"
	"time"
)

// count is an exact number of expected arrivals: whole + frac·2⁻⁵². It is how
// schedules accumulate: the sum of any number of gaps, each cut to a multiple
// of 2⁻⁵² of the mean gap, has no rounding error at all.
type count struct {
	whole uint64
	frac  uint64 // below one
}

const one = 1 << 52

// newCount converts x, cut to a multiple of 2⁻⁵²; what is not positive is 0.
func newCount(x float64) count {
	if !(x > 0) {
		return count{}
	}
	w := math.Floor(x)
	// x − w is exact, and so is its product with a power of two.
	return count{whole: uint64(w), frac: uint64((x - w) * one)}
}

func (c count) add(d count) count {
	f := c.frac + d.frac
	return count{whole: c.whole + d.whole + f/one, frac: f % one}
}

// sub is c − d; zero when d is larger.
func (c count) sub(d count) count {
	if c.less(d) {
		return count{}
	}
	f, borrow := bits.Sub64(c.frac, d.frac, 0)
	if borrow != 0 {
		f += one
	}
	return count{whole: c.whole - d.whole - borrow, frac: f}
}

func (c count) less(d count) bool {
	return c.whole < d.whole || c.whole == d.whole && c.frac < d.frac
}

func (c count) float() float64 { return float64(c.whole) + float64(c.frac)/one }

// at is the time of c at a constant rate, c/rate seconds to the nearest
// nanosecond; false when a time.Duration cannot hold it.
//
// The quotient is taken in two parts, q and its remainder by a fused
// multiply-add, and its whole seconds stay integers, so the result is good to
// the nanosecond over all of a Duration's range.
func (c count) at(rate float64) (time.Duration, bool) {
	w := float64(c.whole)
	q := w / rate
	if !(q < maxSeconds) {
		return 0, false
	}
	sec := math.Floor(q)
	rest := (q - sec) + math.FMA(-q, rate, w)/rate + float64(c.frac)/one/rate
	if !(rest < maxSeconds) {
		return 0, false
	}
	restSec := math.Floor(rest)
	ns := math.Round((rest - restSec) * 1e9)
	total := int64(sec) + int64(restSec)
	if total >= maxSeconds {
		return 0, false
	}
	return time.Duration(total)*time.Second + time.Duration(ns), true
}

// maxSeconds is where schedules end: the whole seconds of a time.Duration.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1
