package doctor

import (
	"fmt"
	"slices"
)

// Status is how serious a finding is.
type Status string

// The statuses. The zero Status is none of them.
const (
	// OK: as it should be.
	OK Status = "ok"
	// Warn: a limitation, which leaves measurements true, or says which of them
	// it makes wrong, and by how much.
	Warn Status = "warn"
	// Fault: makes measurements untrue, or impossible.
	Fault Status = "fault"
	// Unknown: it could not be found out.
	Unknown Status = "unknown"
)

// Finding is one thing that was looked at.
type Finding struct {
	// Name is what was looked at, in a word: "flush", "buffering".
	Name string `json:"name"`
	// Status is how it is.
	Status Status `json:"status"`
	// Seen is what was done and what came of it.
	Seen string `json:"seen"`
	// Remedy is what to do about it; empty where there is nothing to do.
	Remedy string `json:"remedy,omitempty"`
}

// String is the finding on one line, with its remedy.
func (f Finding) String() string {
	s := fmt.Sprintf("%s %s: %s", f.Status, f.Name, f.Seen)
	if f.Remedy != "" {
		s += " → " + f.Remedy
	}
	return s
}

// Verdict is what all findings come to.
type Verdict string

// The verdicts.
const (
	// Measurable: no finding is a fault.
	Measurable Verdict = "measurable"
	// NotMeasurable: at least one is, or not all was looked at (Report.Stopped),
	// or nothing.
	NotMeasurable Verdict = "not measurable"
	// Unreachable: no HTTP server answered.
	Unreachable Verdict = "unreachable"
)

// Report is what was found of a server.
type Report struct {
	// URL is the server's root, without user information.
	URL string `json:"url"`
	// Kind is "vllm", "sglang", "llamacpp" or, for any other, "openai"; Version
	// and Model are as the server tells them. Empty is unknown.
	Kind    string `json:"kind,omitempty"`
	Version string `json:"version,omitempty"`
	Model   string `json:"model,omitempty"`
	// Findings are in the order in which they were made.
	Findings []Finding `json:"findings"`
	// Stopped says that the last finding kept the rest from being looked at.
	Stopped bool `json:"stopped"`
}

// reach is the finding that there is an HTTP server at all.
const reach = "reach"

// Verdict is Unreachable without an HTTP server, NotMeasurable with a fault
// among the findings, without any or where Stopped is set, else Measurable.
func (r *Report) Verdict() Verdict {
	switch f, wrong := r.Find(reach), r.Count(Fault); {
	case f.Status == Fault:
		return Unreachable
	case wrong > 0 || r.Stopped || len(r.Findings) == 0:
		return NotMeasurable
	}
	return Measurable
}

// Find returns the finding of a name; the zero Finding when there is none.
func (r *Report) Find(name string) Finding {
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == name })
	if i < 0 {
		return Finding{}
	}
	return r.Findings[i]
}

// Count is the number of findings of a status.
func (r *Report) Count(s Status) int {
	n := 0
	for _, f := range r.Findings {
		if f.Status == s {
			n++
		}
	}
	return n
}
