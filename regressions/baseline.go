package regressions

import "time"

// Schema is the version of the baseline file's form. A file of another is
// refused by name.
const Schema = 1

// Baseline is an arm that was accepted and stored.
type Baseline struct {
	Arm
	// Recorded is when its first run was made; Commit the commit it was made
	// at, empty when unknown.
	Recorded time.Time
	Commit   string
}
