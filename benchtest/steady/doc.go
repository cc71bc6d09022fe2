// Package steady judges whether an open loop was stable: whether the server
// kept up with its arrivals, or fell behind them for as long as one offered
// them. Past saturation a latency is a function of how long the run lasted,
// so nothing is gated on it there.
//
// The number in flight is a random walk, reflected at zero, with the drift
// λ − μ and a variance of c² an arrival. Trend tests (a slope of the queue's
// length or of latency, Mann–Kendall, Geweke) take that walk for a trend and
// call a tenth to a half of all stable runs at a load of 0.85 to 0.95
// growing. The verdict here has three outcomes, a known rate of false alarms,
// and says what it could not have seen.
//
// A closed loop has no queue that could grow and is refused.
package steady
