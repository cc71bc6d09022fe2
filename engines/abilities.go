package engines

import (
	"context"
	"iter"
	"time"
)

// Flusher is an engine whose prefix cache can be emptied.
type Flusher interface {
	// Flush empties the prefix cache. A refusal or a missing route is an
	// outcome, not an error; err is for a server that could not be asked.
	Flush(ctx context.Context) (Flush, error)
}

// FlushOutcome says what came of a flush.
type FlushOutcome string

// The outcomes of a flush. The zero value, "", is a flush never asked for.
const (
	// Flushed: the server says, in a reply that can be believed, that the
	// cache is empty.
	Flushed FlushOutcome = "flushed"
	// FlushUnsupported: this server, as started, has no such route.
	FlushUnsupported FlushOutcome = "unsupported"
	// FlushRefused: the server would not, usually because it is not idle.
	FlushRefused FlushOutcome = "refused"
	// FlushUnverified: the server accepted and says nothing of success.
	FlushUnverified FlushOutcome = "unverified"
)

// Flush is the result of asking for a flush.
type Flush struct {
	// Outcome is what came of it, in a word.
	Outcome FlushOutcome
	// Detail is what was asked and what came back.
	Detail string
	// Remedy is what the user can do where the outcome is not Flushed.
	Remedy string
	// Saltless says that the server refuses requests with a cache salt, which
	// else keeps runs apart where nothing is flushed: send none.
	Saltless bool
}

// Loader is an engine that tells how much work it holds.
type Loader interface {
	// Load reads the queue as it is now. What the server does not tell is
	// unknown, not an error; err is for a server that could not be asked.
	Load(ctx context.Context) (Load, error)
}

// Load is the engine's own view of its queue.
type Load struct {
	// Running requests have a slot, Waiting ones have been accepted and have
	// none yet.
	Running, Waiting Count
}

// Idle reports that the engine says, rather than leaves open, that it holds
// no work.
func (l Load) Idle() bool {
	return l.Running.Known && l.Waiting.Known && l.Running.N == 0 && l.Waiting.N == 0
}

// Scraper is an engine with cumulative counters.
type Scraper interface {
	// Scrape reads the counters as they are now; err is for a server that could
	// not be asked.
	Scrape(ctx context.Context) (Counters, error)
}

// Counters are cumulative since the engine's start. A counter the server
// does not have is unknown.
type Counters struct {
	// PromptTokens and OutputTokens are those of all requests.
	PromptTokens, OutputTokens Count
	// Requests are those that have ended, however they did.
	Requests Count
	// CacheQueries and CacheHits are prompt tokens looked up in, and served
	// by, the prefix cache.
	CacheQueries, CacheHits Count
	// Preemptions counts requests put back to be computed anew.
	Preemptions Count
	// Instance changes when the engine has restarted; empty is unknown.
	Instance string
}

// Describer is an engine that tells what it is.
type Describer interface {
	// Describe asks the server what it is. With an error the identity holds
	// what is known all the same.
	Describe(ctx context.Context) (Identity, error)
}

// Identity is what a measurement was made on. Empty fields are unrecorded.
type Identity struct {
	// Engine is the kind: "vllm", "sglang", "llamacpp", "sim", "openai".
	Engine string
	// Version is the server's own version or build string.
	Version string
	// Model is the model as the server names it; Revision its revision.
	Model, Revision string
	// Hardware is what the engine computes on, with its count, as in
	// "1x H100 SXM 80GB". It is part of a baseline's key.
	Hardware string
	// Settings are the flags and environment that decide performance, without
	// secrets. Those that are part of a baseline's key come back from Key.
	Settings map[string]string
	// Command is the full command line, secrets removed; empty when attached.
	Command string
}

// Restarter is an engine that can be started afresh.
type Restarter interface {
	// Restart stops the engine, starts it again and returns when it is ready.
	Restart(ctx context.Context) error
}

// Logger is an engine whose log tells of compilations.
type Logger interface {
	// CompileEvents counts the compile events seen since the engine's start.
	// Unknown means that it cannot tell.
	CompileEvents(ctx context.Context) (Count, error)
}

// Virtual is an engine that lives in the process's memory, so that time may
// be virtual (testing/synctest) and a real deadline says nothing.
type Virtual interface {
	// VirtualTime reports whether that is so.
	VirtualTime() bool
}

// Simulator is an engine that can compute what Generate would stream,
// without a clock, a goroutine or IO. It is stateful as the engine itself is:
// its caches persist from one call to the next.
type Simulator interface {
	// Simulate serves arrivals, which must be in order of At, until the
	// sequence ends and all of them are done. It pulls an arrival only when
	// its clock has come to the one before, and calls done as each request
	// ends, so that a driver can end the sequence when it has seen enough.
	// Times are on the clock of Arrival.At.
	//
	// An arrival without a request is a wait: it carries no work, and the
	// next arrival is pulled once a request has ended or the clock has come
	// to At, whichever is first: at once when At has passed, and a zero At
	// sets no limit. A closed loop yields one when all its slots are taken.
	//
	// An arrival may be due at the very time at which the last request ended.
	// The sequence may call the engine's Scrape and CompileEvents: a driver
	// reads counters at the edges of its window.
	Simulate(arrivals iter.Seq[Arrival], done func(Outcome))
}

// Arrival is one request and the time at which it is due. Without a request it
// is a wait (see Simulator).
type Arrival struct {
	// At is on a clock of the driver's.
	At time.Duration
	// Request is not changed; its Stamp is not called.
	Request *Request
}

// Outcome is what Generate would have reported of one request.
type Outcome struct {
	// Request is the one that arrived, the same pointer.
	Request *Request
	// Reply and Err are what Generate would have returned.
	Reply Reply
	Err   error
	// Chunks are the stream's events, valid only during the call.
	Chunks []Chunk
}

// Warmer is an engine whose connections can be opened before the requests that
// will use them, so that no request of a load waits for one.
type Warmer interface {
	// Warm opens connections until n are idle, and tries no more than that: what
	// it opens may be closed again within seconds, so it is called just before
	// the load. An error whose Class is Client says that this host cannot have
	// so many at once; then none was opened.
	Warm(ctx context.Context, n int) error
}
