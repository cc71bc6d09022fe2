// Package metric is the arithmetic of one run: request timelines, TTFT, TPOT,
// gaps and end-to-end latency, quantiles, SLO attainment, goodput, and the
// record that keeps a run. It has no clock and does no IO.
package metric
