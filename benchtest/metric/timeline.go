package metric

import "time"

// Phase is the part of a run that a request was scheduled in.
type Phase string

// The phases of a run whose requests are recorded. Only those of the window
// count; the others are kept because the queue they form is the one that the
// window's requests met.
const (
	Settle   Phase = "settle"
	Window   Phase = "window"
	Cooldown Phase = "cooldown"
)

// Probe is the phase of the requests of Record.Probes, whenever they were
// scheduled.
const Probe Phase = "probe"

// Timeline is one request as the driver saw it. All times are since the
// run's origin, an instant before any request was due; so the zero time means
// "did not happen", never "happened at once".
type Timeline struct {
	// ID names the request within its run; Phase is the part of the run that it
	// was scheduled in.
	ID    string `json:"id"`
	Phase Phase  `json:"phase"`

	// Scheduled is when the request was due; Sent when its first byte left.
	// Released is when a client-side limit that had held it let it go, so that
	// Released − Scheduled is the wait for a slot; zero where none held it.
	Scheduled time.Duration `json:"scheduled"`
	Released  time.Duration `json:"released,omitzero"`
	Sent      time.Duration `json:"sent,omitzero"`
	// FirstEvent is the first event of any kind, FirstToken the first that
	// carried something generated, FirstContent the first that carried text
	// of the answer itself, LastToken the last that carried something
	// generated, Closed the end of the stream.
	FirstEvent   time.Duration `json:"first_event,omitzero"`
	FirstToken   time.Duration `json:"first_token,omitzero"`
	FirstContent time.Duration `json:"first_content,omitzero"`
	LastToken    time.Duration `json:"last_token,omitzero"`
	Closed       time.Duration `json:"closed,omitzero"`

	// Events is the number of token events, and Gaps the times between them
	// in order. Gaps are not stored; they may be dropped once they are
	// summarised, here in ZeroGaps and GapMax and for the run in Record.Gaps.
	Events int             `json:"events,omitzero"`
	Gaps   []time.Duration `json:"-"`
	// ZeroGaps counts gaps of zero; GapMax is the longest gap.
	ZeroGaps int           `json:"zero_gaps,omitzero"`
	GapMax   time.Duration `json:"gap_max,omitzero"`

	// FirstTokens is how many tokens the first token event carried; -1 when
	// the server did not say.
	FirstTokens int `json:"first_tokens"`
	// TokenGaps is true when every token event is known to have carried
	// exactly one token, so that gaps between events are gaps between tokens.
	TokenGaps bool `json:"token_gaps,omitzero"`

	// PromptTokens, OutputTokens and CachedTokens are the server's counts; -1
	// when it did not say. AskedPrompt and AskedOutput are what the workload
	// asked for; -1 when it asked for no particular length.
	PromptTokens int `json:"prompt_tokens"`
	OutputTokens int `json:"output_tokens"`
	CachedTokens int `json:"cached_tokens"`
	AskedPrompt  int `json:"asked_prompt"`
	AskedOutput  int `json:"asked_output"`

	// Lost are, for each gap whose first event was read together with later bytes
	// and has their time, how much of the gap may be missing, at most, and be in
	// the gap before it. They are not stored: client.readings has what they come
	// to. Nil is none, and also what is not known.
	Lost []time.Duration `json:"-"`
	// ReadLag is the longest time that bytes of the reply lay readable on this
	// side before they were read; zero is unknown.
	ReadLag time.Duration `json:"read_lag,omitzero"`

	// Connect is how long the request waited for a connection, which is no Lag.
	// Zero is none, since one was there; one that requests share (HTTP/2) takes
	// some microseconds to be had, and is not zero. Protocol is the protocol of
	// the reply; empty is HTTP/1.1.
	Connect  time.Duration `json:"connect,omitzero"`
	Protocol string        `json:"protocol,omitzero"`

	// Finish is the finish reason that the server gave, NewConnection whether
	// the request had to open a connection, and Warnings are the departures from
	// the protocol that did not fail it.
	Finish        string   `json:"finish,omitzero"`
	NewConnection bool     `json:"new_connection,omitzero"`
	Warnings      []string `json:"warnings,omitzero"`

	// Failure is the class of the failure, "" for a success, Unfinished for a
	// request that the drain limit cut, Aborted for one that the user
	// stopped. Message is the failure in words.
	Failure string `json:"failure,omitzero"`
	Message string `json:"message,omitzero"`
}

// Failures that are the driver's own words; all others are the engine's.
const (
	Unfinished = "unfinished"
	Aborted    = "aborted"
)
