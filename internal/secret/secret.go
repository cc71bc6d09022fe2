// Package secret knows secrets by their names, their look, their place and, where
// they were given, by their value, and takes them out of what is shown or kept:
// records, baselines, logs, errors and reports.
package secret

// Mark stands where a secret was.
const Mark = "[redacted]"

// Least is the length, in bytes, below which a value that was given is not looked
// for inside of words: a short one is part of too many. Behind its name, or where a
// URL has one, a secret of any length is found, but for what looks like the number
// of a token.
const Least = 6

// LeastWord is the length, in bytes, below which a value that was given is not
// looked for at all. From it on it is found where it stands as a word of its own,
// if it is no number, as ports and counts are. What servers are given in place of a
// key is not looked for at any length: an engine whose key is "sglang" would lose
// its name.
const LeastWord = 4
