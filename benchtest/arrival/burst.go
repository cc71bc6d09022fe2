package arrival

import "time"

// Burst is the largest number of times within any interval of that width,
// from a time on and without the one that is a width later. The times must be
// in order. A sender that bunches has larger ones than its schedule, although
// the two have the same rate; see also GapCV2.
func Burst(times []time.Duration, width time.Duration) int {
	most, first := 0, 0
	for last, t := range times {
		for t-times[first] >= width && first < last {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}
