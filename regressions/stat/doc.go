// Package stat is the arithmetic of the gate: what a number of runs can show,
// when a difference counts, how many runs are still needed, and the intervals
// that are printed beside a number.
//
// The run is the unit everywhere. Requests of one run share a batch and a
// queue, so an interval that treats them as independent covers 12 to 31 % of
// the time instead of 95 % near saturation. Each run gives one number for a
// metric, and all tests are over those numbers.
//
// Everything here is a function of plain numbers: no clock, no file, no
// global state. Differences are on the test's scale: logarithms for what is
// compared as a ratio, the values themselves for rates and shares, and always
// candidate − baseline with the sign turned for metrics that get better
// upwards, so that a positive difference is worse.
//
// A result that does not exist is +Inf where it is a size ("no difference,
// however large, would be seen") and NaN where it is a value; neither passes
// a comparison that asks for "finite and within".
package stat
