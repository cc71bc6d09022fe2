package sim

import (
	"errors"
	"fmt"
	"time"
)

// Faults are what can be wrong with an engine, on demand: the mutants that a
// gate is scored against and the quirks that a client has to survive. Each is
// off at its zero. None shows in the engine's identity.
//
// Which requests a share strikes follows from the seed, the engine's start
// and the request's id, so that the same run is struck the same way. Those up
// to the first that is served are spared, so that the engine can get ready.
type Faults struct {
	// StallEvery and StallFor stop the engine for StallFor each StallEvery of
	// the run (counted from its first step after a start or flush). Medians
	// stay, tails move.
	StallEvery, StallFor time.Duration
	// TailShare of the requests wait TailDelay longer before they may be
	// admitted: TTFT's tail alone.
	TailShare float64
	TailDelay time.Duration
	// Leak makes every step slower by this share for each request that has
	// been served since the start.
	Leak float64
	// SlowStartShare of the engine's starts are slower by SlowStartFactor
	// from first to last: starts with two modes.
	SlowStartShare, SlowStartFactor float64

	// CacheOff turns prefix caching off.
	CacheOff bool
	// LostKVTokens and LostSlots are taken from KVTokens and MaxNumSeqs, and
	// the engine's identity does not tell.
	LostKVTokens, LostSlots int

	// OutputCut is the share of each output that is not generated, 0 to 1;
	// the finish reason is "stop", even when the request ignores EOS. At
	// least one token is generated.
	OutputCut float64

	// ErrorShare of the requests get status 500 instead of a stream.
	ErrorShare float64
	// RefuseShare of the requests, and all while RefuseAbove or more are
	// waiting, get RefuseStatus (zero is 429) with Retry-After: 1.
	RefuseShare  float64
	RefuseAbove  int
	RefuseStatus int

	// StreamErrorShare of the streams end half-way with an error object and
	// then [DONE]; CutShare end half-way cleanly and without [DONE];
	// ResetShare lose their connection half-way.
	StreamErrorShare, CutShare, ResetShare float64

	// Buffered holds every stream back until it is complete, as a proxy does.
	Buffered bool
	// TokensPerEvent is the least number of tokens in an event other than
	// the first and the last; zero is 1.
	TokensPerEvent int
	// NoUsage ignores stream_options and return_token_ids: no counts at all.
	NoUsage bool
	// HideCached leaves cached tokens out of usage, as servers do that were
	// not started with the flag for it.
	HideCached bool
	// IgnoreSalt has prompts of different salts share one cache.
	IgnoreSalt bool

	// FlushLies answers that the cache was flushed and keeps it.
	FlushLies bool
	// FlushRefusals is how many flushes are refused although the engine is
	// idle; negative refuses all.
	FlushRefusals int
	// FlushEmptyBody answers a flush with an empty body, as vLLM before 0.26
	// did, whether it succeeded or not.
	FlushEmptyBody bool

	// RestartAfter kills the engine once, when so many requests have been
	// served: streams are reset, cache and counters are gone, and for
	// RestartDown it answers 503.
	RestartAfter int
	RestartDown  time.Duration
	// LoadingFor is how long a server answers 503 after its start. The
	// arithmetic form has always loaded.
	LoadingFor time.Duration

	// AnswerModel is the model named in replies and in the list of models,
	// in place of the one that is asked for and accepted.
	AnswerModel string

	// Protocol are faults of the server, which the arithmetic form has not.
	Protocol Protocol
}

// Protocol are what can be wrong with the server around an engine. Each is
// off at its zero.
type Protocol struct {
	// Miscount is the share by which usage tells too many output tokens, or
	// too few when it is negative; from −1 to 1.
	Miscount float64
	// NoMetrics is a server without its page of metrics, NoLoad one that
	// always says that it runs nothing and that nothing waits, and StaleLoad
	// one that tells both as they were when its last step ended, as vLLM does:
	// they stay when a client has gone.
	NoMetrics, NoLoad, StaleLoad bool
	// NoTokenIDs refuses prompts of token ids.
	NoTokenIDs bool
	// RejectSalt refuses requests with a cache salt, as a server does that
	// knows no such field and takes no others.
	RejectSalt bool
	// ErrorsInStreams answers what is wrong with a request by status 200 and
	// an error in the stream.
	ErrorsInStreams bool
	// CloseIdle closes every connection after its reply, without having said
	// so. It takes connections of Serve only.
	CloseIdle bool
	// KeepDropped works on for clients that have gone.
	KeepDropped bool
	// ClockOff is how far the server's clock is ahead; negative is behind.
	ClockOff time.Duration
}

func (f Faults) validate() error {
	var errs []error
	share := func(name string, v float64) {
		if !(v >= 0 && v <= 1) {
			errs = append(errs, fmt.Errorf("Faults.%s must be from 0 to 1, got %v", name, v))
		}
	}
	share("TailShare", f.TailShare)
	share("SlowStartShare", f.SlowStartShare)
	share("OutputCut", f.OutputCut)
	share("ErrorShare", f.ErrorShare)
	share("RefuseShare", f.RefuseShare)
	share("StreamErrorShare", f.StreamErrorShare)
	share("CutShare", f.CutShare)
	share("ResetShare", f.ResetShare)
	if sum := f.ErrorShare + f.RefuseShare + f.StreamErrorShare + f.CutShare + f.ResetShare; sum > 1 {
		errs = append(errs, fmt.Errorf("Faults: ErrorShare, RefuseShare, StreamErrorShare, CutShare and ResetShare must not exceed 1 together, got %v", sum))
	}
	atLeast := func(name string, v, limit int) {
		if v < limit {
			errs = append(errs, fmt.Errorf("Faults.%s must be at least %d, got %d", name, limit, v))
		}
	}
	atLeast("LostKVTokens", f.LostKVTokens, 0)
	atLeast("LostSlots", f.LostSlots, 0)
	atLeast("RefuseAbove", f.RefuseAbove, 0)
	atLeast("TokensPerEvent", f.TokensPerEvent, 0)
	atLeast("RestartAfter", f.RestartAfter, 0)
	positive := func(name string, v time.Duration) {
		if v < 0 {
			errs = append(errs, fmt.Errorf("Faults.%s must not be negative, got %v", name, v))
		}
	}
	positive("StallEvery", f.StallEvery)
	positive("StallFor", f.StallFor)
	positive("TailDelay", f.TailDelay)
	positive("RestartDown", f.RestartDown)
	positive("LoadingFor", f.LoadingFor)
	if (f.StallEvery > 0) != (f.StallFor > 0) {
		errs = append(errs, fmt.Errorf("Faults: StallEvery and StallFor go together, got %v and %v", f.StallEvery, f.StallFor))
	}
	if (f.TailShare > 0) != (f.TailDelay > 0) {
		errs = append(errs, fmt.Errorf("Faults: TailShare and TailDelay go together, got %v and %v", f.TailShare, f.TailDelay))
	}
	if (f.SlowStartShare > 0) != (f.SlowStartFactor > 0) {
		errs = append(errs, fmt.Errorf("Faults: SlowStartShare and SlowStartFactor go together, got %v and %v", f.SlowStartShare, f.SlowStartFactor))
	}
	if m := f.Protocol.Miscount; !(m >= -1 && m <= 1) {
		errs = append(errs, fmt.Errorf("Faults.Protocol.Miscount must be from -1 to 1, got %v", m))
	}
	if !(f.Leak >= 0) {
		errs = append(errs, fmt.Errorf("Faults.Leak must not be negative, got %v", f.Leak))
	}
	if f.RefuseStatus != 0 && f.RefuseStatus != 429 && f.RefuseStatus != 503 {
		errs = append(errs, fmt.Errorf("Faults.RefuseStatus must be 429 or 503, got %d", f.RefuseStatus))
	}
	return errors.Join(errs...)
}
