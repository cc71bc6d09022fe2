package arrival

import "time"

// GapCV2 is the squared coefficient of variation of the gaps between times:
// their variance (n − 1 in the denominator) over their mean squared. It is 1
// for Poisson arrivals, 0 for constant ones, and 0 as well where there is
// nothing to tell: fewer than three times, or all at one instant.
func GapCV2(times []time.Duration) float64 {
	if len(times) < 3 {
		return 0
	}
	gaps := make([]float64, len(times)-1)
	for i := range gaps {
		gaps[i] = float64(times[i+1] - times[i])
	}
	return cv2(gaps)
}

// cv2 is variance over mean squared of at least two values, 0 if the mean is.
func cv2(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	mean := sum / float64(len(x))
	if mean == 0 {
		return 0
	}
	var squares float64
	for _, v := range x {
		d := v - mean
		squares += d * d
	}
	return squares / float64(len(x)-1) / (mean * mean)
}
