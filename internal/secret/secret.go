// Package secret knows secrets by their names, their look, their place and, where
// they were given, by their value, and takes them out of what is shown or kept:
// records, baselines, logs, errors and reports.
package secret

// Mark stands where a secret was.
const Mark = "[redacted]"

// Least is the length, in bytes, below which a value that was given is not looked
// for: a short one is part of too many words, and an engine whose key is "vllm"
// would lose its name. By its name, its look or its place a secret of any length
// is found.
const Least = 6
