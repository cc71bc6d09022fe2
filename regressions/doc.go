// Package regressions judges runs of an engine against a stored baseline: is
// it slower than the owner tolerates, is it shown not to be, or do the runs
// not tell? Anything that was not compared, or cannot be trusted, is invalid,
// never a pass.
//
// A [Gate] says what may be called a regression. [Judge] takes one look: at 3,
// 5, 8 and 12 candidate runs it says regressed or pass as soon as the runs
// show it, with levels at which all looks of a whole `go test` job together
// raise a false alarm in at most 2.5 % of the jobs, and pass a slowdown of
// exactly the margin in at most 5 %. In between it asks for more runs, and in
// the end it says how many would decide. [Verdict.Text] is the product: what,
// by how much, with which certainty, on which runs, what to do.
//
// A [Baseline] is a file in Go's benchmark format, one line a run, that
// benchstat reads. Reading one that is missing, foreign, corrupt or of another
// schema is an error that names it, and none of these is ever overwritten.
//
// # Which test, and why
//
// The run is the unit, on logarithms. The strongest design that the runs allow
// is chosen from their numbers alone, never from their values, since a choice
// that looks at the outcome is another look:
//
//   - Two builds that were measured in turns, run for run ([JudgeBoth]): what
//     the machine is today is in both, and nothing is stored.
//   - A frozen control beside every run, then and now ([Arm.Beside]): each run
//     is taken against its control's, and so judged by what follows. A stored
//     baseline without one takes a machine that is slower today for a slower
//     build: with days that differ by 5 %, 27 % of unchanged builds are called
//     regressed, and with the control none of 20,000 (simulated).
//   - From five starts of the engine in the baseline on, the start is the unit,
//     because an engine differs between starts and more runs of one start do
//     not tell. Runs are paired by their arrivals first where the pairs reach
//     five starts of the baseline.
//   - Else, from five pairs on, runs with the same index, and so the same
//     arrivals, are paired.
//   - Else the arms are compared unpaired, by a pooled or, when the candidate
//     is noisier, Welch's t-test. A baseline of runs 0…11 and a candidate of
//     runs 0…2 have different arrivals on average, by the same amount every
//     time the test runs: an unpaired test alone passes a slowdown of the
//     margin in 13 % of the cases at a point whose first three arrival
//     sequences are lucky (1.5 standard deviations, simulated). So the verdict
//     must also hold for the difference of the runs with the same arrivals,
//     judged with the unpaired test's standard error, which contains the
//     arrivals' luck and is therefore too large for it: at most 5 % again, for
//     0.2 runs more on average.
//
// With fewer than five starts a verdict is conditional on starts being alike,
// and the text says so.
package regressions
