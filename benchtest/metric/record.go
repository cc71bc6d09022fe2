package metric

import "time"

// Schema is the version of a stored Record. A reader refuses any other.
const Schema = 1

// The arms of a measurement of two engines in turns.
const (
	// ArmControl is the engine that is known, ArmCandidate the one in question.
	ArmControl   = "control"
	ArmCandidate = "candidate"
)

// Pair is one key and its value, in an order that is part of the meaning.
type Pair struct {
	// Key is lower case, as in "client-limit".
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Record is one run: all that was measured and all that is needed to judge
// it later, without the engine and without the code that measured it.
type Record struct {
	// Schema is the version of this form; zero is written as the present one.
	Schema int `json:"schema"`

	// Test is the name of the test, PointName the short name of the point.
	Test      string `json:"test,omitzero"`
	PointName string `json:"point_name"`
	// Point is the point as canonical pairs and PointHash their hash: two
	// records compare only when their hashes are equal.
	Point     []Pair `json:"point"`
	PointHash string `json:"point_hash"`
	// Identity is what was measured on (engine, version, model, hardware,
	// settings …) and Key the part that a baseline must share.
	Identity []Pair `json:"identity"`
	Key      []Pair `json:"key"`
	// Unrecorded names the fields of the reporting template that could not be
	// found out.
	Unrecorded []string `json:"unrecorded,omitzero"`

	// Arm is ArmControl or ArmCandidate where two engines were measured in
	// turns; empty is an engine that was measured by itself.
	Arm string `json:"arm,omitzero"`

	// Run is the index of the run at its point, from 0; it decides the
	// arrivals and lengths. Start numbers the engine start, from 0, and
	// StartID tells starts of different days apart. Seed is the pair seed, by
	// which another arm can be seen to have had the same arrivals.
	Run     int    `json:"run"`
	Start   int    `json:"start"`
	StartID string `json:"start_id"`
	Seed    uint64 `json:"seed"`
	// Time is the wall clock at the run's origin, a label only. Virtual is
	// true when it was the clock of a synctest bubble.
	Time    time.Time `json:"time"`
	Virtual bool      `json:"virtual,omitzero"`

	// InFlight is the fixed concurrency of a closed loop; 0 is an open loop.
	InFlight int `json:"in_flight,omitzero"`
	// From and To bound the window: a request counts when From <= Scheduled
	// < To.
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
	// Rate is the offered load that the schedule asked for over the window,
	// in arrivals a second; 0 for a closed loop. GapCV2 is the squared
	// coefficient of variation of the scheduled gaps in the window.
	Rate   float64 `json:"rate,omitzero"`
	GapCV2 float64 `json:"gap_cv2,omitzero"`

	// Capacity is the rate that the engine is known to sustain with this
	// workload, in requests a second; 0 is unknown.
	Capacity float64 `json:"capacity,omitzero"`
	// SLO is the objective of the point, behind "goodput-req/s" and
	// "attainment"; the zero value is none.
	SLO SLO `json:"slo,omitzero"`

	// Requests are the requests of settle, window and cooldown in order of
	// schedule.
	Requests []Timeline `json:"requests"`
	// Gaps summarises the gaps between token events; see Record.Summarise.
	Gaps GapSummary `json:"gaps,omitzero"`

	// Probes are the single-token requests that went beside the load, in order
	// of schedule. They are part of no metric of the load: the metrics of their
	// own are named "probe-…" and count those scheduled in the window.
	Probes []Timeline `json:"probes,omitzero"`

	// Client is how true this side was to the plan, and what it had to do with
	// the numbers.
	Client Client `json:"client,omitzero"`

	// Warmup and flush as they went.
	WarmupRequests int    `json:"warmup_requests"`
	Flush          string `json:"flush,omitzero"`
	FlushDetail    string `json:"flush_detail,omitzero"`
	// CacheProof says how cached tokens were known: "requests", "counters"
	// or "" when they were not.
	CacheProof string `json:"cache_proof,omitzero"`
	// Counters are the engine's counters over the window; absent keys are
	// unknown.
	Counters map[string]float64 `json:"counters,omitzero"`
	// Served are the engine's counters over the whole run, from before its first
	// request until after its last (settle, window and cooldown; its warmup and the
	// flush are over before), and Own what the run's requests and probes account
	// for, at most: "prompt_tokens", "output_tokens", "requests" (that have ended).
	// What is above it was somebody else's. Absent keys are unknown, in both: the
	// server does not count them, or had not yet counted all of the warmup.
	Served map[string]float64 `json:"served,omitzero"`
	Own    map[string]float64 `json:"own,omitzero"`

	// Problems make the run invalid; Warnings do not.
	Problems []Problem `json:"problems,omitzero"`
	Warnings []string  `json:"warnings,omitzero"`
}

// Problem is one reason why a run cannot be trusted.
type Problem struct {
	// Kind is a short word: "client-limited", "warm-cache", "errors", …
	Kind string `json:"kind"`
	// Text is the reason with both numbers, and the remedy.
	Text string `json:"text"`
}
