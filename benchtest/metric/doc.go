// Package metric is the arithmetic of one run: request timelines, TTFT, TPOT,
// gaps and end-to-end latency, quantiles, SLO attainment, goodput, and the
// record that keeps a run. It has no clock and does no IO.
//
// Three rules hold everywhere. Missing is never zero: a latency that a
// request does not have comes back with false, a metric that a run does not
// have with *Absent. A number that the run is too small for is refused with
// *TooFew, not estimated. And no function returns NaN.
//
// Latency runs from the schedule, not from the send: TTFT and E2E include
// whatever the request waited on this side, so a sender that lags or a limit
// on requests in flight cannot make a server look fast.
package metric
