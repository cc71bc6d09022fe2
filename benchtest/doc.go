// Package benchtest runs the protocol of one measurement: start or attach,
// warmup, quiesce, flush and prove, settle, window, cooldown, drain, and the
// judgement whether the run can be trusted. It is the only place that takes a
// timestamp that becomes a metric.
//
// Rules that hold for every run:
//
//   - A schedule is computed beforehand and in absolute times. An arrival
//     waits for nothing: not for the engine, not for an earlier request, not
//     for a connection or a slot. Latency runs from the schedule, lag (sent −
//     scheduled, without waits for a connection) is recorded for every request,
//     and a client that could not keep up makes its run invalid.
//   - The window is the interval from its first arrival to the next one after
//     its last. What was due in it counts, whenever it ends; arrivals go on
//     after it until all of it has ended or the drain limit has passed, so
//     that the last requests meet the load that the first ones met.
//   - All times of a run are on one monotonic clock, whose origin is an
//     instant before anything is due. Engines read it through Request.Stamp.
//   - Run i of a point has the pair seed H(point hash, Point.Seed, i), by
//     which arrivals, lengths and sharing are the same in every arm and on
//     every day. The content of prompts comes from the pair seed and a nonce
//     of the engine start, so that no start sees the same content twice: a
//     random one on a real clock and, so that virtual time is reproducible, a
//     hash of the tokens that the engine says it has served in virtual time.
//     H is SHA-256, and its bytes never change.
//   - The record says what this side had to do with the numbers: how late it
//     sent, ran, woke and read, how the requests sent are dispersed against
//     those planned, what was busy, and the verdict, ok, client-limited or
//     unknown (metric.Client). What was busy explains and decides nothing.
//   - What a request takes that needs no server is done before it is due
//     (engines.Preparer). From the first measurement on a real clock the process
//     holds 64 MiB that it does not touch, so that Go's collector runs after as
//     much has been allocated and not some times a second: less with a larger
//     GOGC, and none with a limit of memory (GOMEMLIMIT, a container's) below 1
//     GiB.
//   - Probes (Point.ProbeRate) are beside the load: outside of its limits, and
//     of its metrics and counts.
//   - Whether a run is valid is judged before anything is compared, from its
//     record alone where that is possible (Judge). Missing is never zero.
//   - A run that is invalid for nothing but a client that was late is made again
//     at once, for at most two runs of a measurement, and is kept apart
//     (Runs.Replaced). Which runs count never depends on a latency of the
//     engine's, on how long it took to accept a connection, or on any other
//     metric.
//   - What the server counts, from before a run's first request until after its
//     last, is held against what the run's requests account for: more makes it
//     invalid, since others were served, and so does a counter that falls between
//     any two readings, since the server was started again. What is not counted
//     decides nothing. Failures of warmup, settle and cooldown count where they
//     are more than chance.
//   - An engine that is known to be dead, or from which nothing comes (see
//     Point.Drain), ends the measurement with that cause.
//   - A finished run is on disk before the next starts. A panic of the engine
//     or the workload, a signal or a deadline loses none.
//   - What the time left does not hold, or this host's descriptors, is refused
//     before it is sent, with both numbers (Measure says exactly what).
//
// In virtual time (package testing/synctest) the same code runs on the
// bubble's clock; an engine that computes (engines.Simulator) is driven
// without a clock or a goroutine, by the same schedule, phases and judgement,
// and to the same nanosecond.
package benchtest
