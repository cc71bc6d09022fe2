package steady

import "math"

// Relaxation is the number of arrivals, ρ/(1 − √ρ)², over which a queue that
// starts empty at a load of rho comes near its stationary state. It is the
// relaxation time of M/M/1 (Morse, "Stochastic properties of waiting lines",
// Operations Research 3 (1955) 255–261), a planning scale and no guarantee. It
// is infinite from rho = 1 on, and for a rho that is no number; zero for a rho
// of zero or less.
func Relaxation(rho float64) float64 {
	if !(rho < 1) {
		return math.Inf(1)
	}
	if rho <= 0 {
		return 0
	}
	gap := 1 - math.Sqrt(rho)
	return rho / (gap * gap)
}

// Cut is the number of arrivals to leave out before a window of the given
// number of arrivals: the largest of 10 % of the arrivals, three mean request
// durations, and the relaxation, which is capped at 30 % of the arrivals.
//
// It is a fixed number, the same in every arm. Cuts that are found in the
// data bias what follows them. inFlight is the mean number of requests in
// flight, so that three durations hold 3·inFlight arrivals (Little's law);
// rho is the load, zero where it is not known, which leaves relaxation out. An
// inFlight that is no number of requests is left out too.
func Cut(arrivals int, inFlight, rho float64) int {
	n := float64(arrivals)
	if !(inFlight >= 0) || math.IsInf(inFlight, 1) {
		inFlight = 0
	}
	return int(math.Ceil(max(0.1*n, 3*inFlight, min(Relaxation(rho), 0.3*n))))
}
