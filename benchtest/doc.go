// Package benchtest runs the protocol of one measurement: start or attach,
// warmup, quiesce, flush and prove, settle, window, cooldown, drain, and the
// judgement whether the run can be trusted. It is the only place that takes a
// timestamp that becomes a metric.
package benchtest
