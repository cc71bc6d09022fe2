package steady

import "math"

// growth is g, by how many requests the number in flight grew over the window.
func (s Series) growth() float64 { return float64(s.N[instants-1] - s.N[0]) }

// variance is ĉ²·n', the variance of the growth of a walk without drift: n'
// times the larger of what the walk showed over 20 slices and what its
// arrivals and lengths alone make.
//
// A request is the smallest step there is, so the variance is at least 1: a
// server fed at constant gaps with equal work has none else, and differs by
// one request with where the window's edges fall.
func (s Series) variance() float64 {
	steps := make([]float64, slices)
	for i := range steps {
		steps[i] = float64(s.Slices[i+1] - s.Slices[i])
	}
	_, seen := moments(steps)
	return max(1, slices*seen, (s.GapCV2+s.OutputCV2)*float64(s.Arrivals))
}

// dickeyFuller is the t statistic of b in ΔN(k) = a + b·N(k−1) + e over the
// instants: the test of a walk without drift (b = 0) against a level to which
// the number in flight returns (b < 0), with a constant and without lags
// (Dickey and Fuller, Journal of the American Statistical Association 74
// (1979) 427–431).
//
// A number that never changed, or whose changes its level explains without
// rest, has no such t. It gets the one that independent numbers have, −√50,
// which is also the least that any run counts for, so that one run cannot
// outvote the others of its point.
func (s Series) dickeyFuller() float64 {
	const n = instants - 1
	least := -math.Sqrt(n)
	sum := 0
	for k := range n {
		sum += s.N[k]
	}
	mx, my := float64(sum)/n, float64(s.N[n]-s.N[0])/n
	var sxx, sxy, syy float64
	for k := range n {
		x, y := float64(s.N[k])-mx, float64(s.N[k+1]-s.N[k])-my
		sxx += x * x
		sxy += x * y
		syy += y * y
	}
	if sxx == 0 {
		return least
	}
	b := sxy / sxx
	rest := max(0, syy-b*sxy) / (n - 2)
	if rest <= 1e-12*syy {
		if b < 0 {
			return least
		}
		return 0
	}
	return max(least, b/math.Sqrt(rest/sxx))
}

// criticals are the 5 % points of the mean over R runs of Dickey and Fuller's
// t with a constant and 50 observations, for walks without drift. The first
// is MacKinnon's (Econometrica 1996), −2.8615 − 2.890/50 − 4.234/50²; the
// mean over runs is the panel test of Im, Pesaran and Shin (Journal of
// Econometrics 115 (2003) 53–74). TestCriticalValues simulates them.
var criticals = []struct {
	runs int
	t    float64
}{{1, -2.92}, {2, -2.51}, {3, -2.34}, {5, -2.16}, {8, -2.03}, {12, -1.94}}

// critical is the 5 % point for R runs. Between the tabled ones, and beyond
// them, it is linear in 1/√R, as the mean of R like numbers is.
func critical(runs int) float64 {
	i := 1
	for i < len(criticals)-1 && criticals[i].runs < runs {
		i++
	}
	a, b := criticals[i-1], criticals[i]
	x := func(r int) float64 { return 1 / math.Sqrt(float64(r)) }
	return a.t + (b.t-a.t)*(x(runs)-x(a.runs))/(x(b.runs)-x(a.runs))
}
