package stat

import "gonum.org/v1/gonum/stat/distuv"

// QuantileHolds reports whether total requests, of which over exceeded a
// limit, show with 99 % confidence that the p-quantile is within the limit:
// MLPerf's early-stopping bound, P[Bin(total, 1−p) ≤ over] ≤ 0.01. It takes
// the requests as independent, which near saturation they are not. It is false
// for a p outside (0, 1).
func QuantileHolds(p float64, total, over int) bool {
	if !(p > 0 && p < 1) || total < 1 || over < 0 || over > total {
		return false
	}
	return distuv.Binomial{N: float64(total), P: 1 - p}.CDF(float64(over)) <= 0.01
}

// QuantileNeeds is the smallest number of requests for which QuantileHolds
// with over of them beyond the limit: for p99 459 with none, 662 with one and
// 2,010 with ten. A p outside (0, 1) or a negative over gives 0.
func QuantileNeeds(p float64, over int) int {
	if !(p > 0 && p < 1) || over < 0 {
		return 0
	}
	lo, hi := over+1, over+1
	for !QuantileHolds(p, hi, over) {
		hi *= 2
	}
	for lo < hi {
		if mid := (lo + hi) / 2; QuantileHolds(p, mid, over) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
