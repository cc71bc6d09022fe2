package benchtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// Failures of a request in the driver's own words, beside metric.Unfinished
// and metric.Aborted. A record keeps them.
const (
	// failCapped: refused here, because MaxInFlight was reached.
	failCapped = "capped"
	// failPanic: the engine's Generate panicked.
	failPanic = "panic"
	// failOther: an error that is no *engines.Error.
	failOther = "error"
)

// errDrained is the cause by which requests end that the drain limit cuts.
var errDrained = errors.New("benchtest: not finished when the drain limit had passed")

// flight is one request on its way. Until it is launched the dispatcher owns
// it, then the goroutine that generates, and after that the collector.
type flight struct {
	index   int
	request engines.Request
	line    metric.Timeline

	// planned is line as it was at the launch, for a request whose engine
	// never returns.
	planned metric.Timeline
	ended   bool
	// stuck is true of a stand-in for such a request, unsent of one that was never
	// given to the engine.
	stuck, unsent bool

	// known is the number of tokens in the events so far, while every one of
	// them said; single is true while each said one.
	known  engines.Count
	single bool
	// lost is what is lost of the gap that the next token event ends.
	lost time.Duration

	// model is the one that answered; err what Generate returned.
	model string
	err   error
}

// load is one continuous load on the engine: a warmup, or settle, window and
// cooldown.
type load struct {
	schedule // of an open loop
	inFlight int
	workload Workload
	seeds    seeds
	drain    time.Duration

	clientLimit, maxInFlight int
	// probeRate is the number of probes a second; zero is none.
	probeRate float64

	// id begins the ids of the requests, salt is their cache salt where the
	// workload gives none, and model the one that must answer, if known.
	id, salt, model string
}

// build makes request i of the load.
func (l *load) build(i int) (*flight, error) { return l.make(l.workload, l.id, i, l.seeds) }

// make makes request i of a workload, with an id that begins so.
func (l *load) make(w Workload, id string, i int, of seeds) (*flight, error) {
	r, err := request(w, i, of.shape, of.content)
	if err != nil {
		return nil, fmt.Errorf("benchtest: Point.Workload: %w", err)
	}
	r.ID = fmt.Sprintf("%s-%07d", id, i)
	if r.CacheSalt == "" {
		r.CacheSalt = l.salt
	}
	f := &flight{index: i, request: r, single: true, known: engines.Known(0)}
	f.line = metric.Timeline{
		ID: r.ID, FirstTokens: -1,
		PromptTokens: -1, OutputTokens: -1, CachedTokens: -1, AskedPrompt: -1, AskedOutput: -1,
	}
	if r.Tokens != nil {
		f.line.AskedPrompt = len(r.Tokens)
	}
	if r.IgnoreEOS || r.MinTokens == r.MaxTokens {
		f.line.AskedOutput = r.MaxTokens
	}
	if n := r.MaxTokens - 1; n > 0 && n < 1<<14 {
		f.line.Gaps = make([]time.Duration, 0, n)
	}
	return f, nil
}

// due sets when the request is due.
func (f *flight) due(at time.Duration, phase metric.Phase) {
	f.line.Scheduled, f.line.Phase = at, phase
	f.planned = f.line
	f.planned.Gaps = nil
}

// emit takes one event of the stream.
func (f *flight) emit(c engines.Chunk) {
	f.lost = max(f.lost, c.Lost)
	if !c.Token {
		return
	}
	t := &f.line
	if f.lost > 0 && t.Events > 0 {
		t.Lost = append(t.Lost, f.lost)
	}
	f.lost = 0
	if t.Events == 0 {
		t.FirstToken = c.At
		if c.Tokens.Known {
			t.FirstTokens = c.Tokens.N
		}
	} else {
		t.Gaps = append(t.Gaps, c.At-t.LastToken)
	}
	if c.Content && t.FirstContent == 0 {
		t.FirstContent = c.At
	}
	t.LastToken = c.At
	t.Events++
	f.known.Known = f.known.Known && c.Tokens.Known
	f.known.N += c.Tokens.N
	f.single = f.single && c.Tokens.Known && c.Tokens.N == 1
}

// end takes what the engine reported when the stream had ended. Cause is why
// the driver had ended the request itself, if it had.
func (f *flight) end(reply engines.Reply, err error, cause error, model string) {
	t := &f.line
	t.Sent, t.FirstEvent, t.Closed = reply.Sent, reply.FirstEvent, reply.Closed
	t.PromptTokens = orMissing(reply.PromptTokens)
	t.OutputTokens = orMissing(reply.OutputTokens)
	t.CachedTokens = orMissing(reply.CachedTokens)
	if !reply.OutputTokens.Known && t.Events > 0 {
		t.OutputTokens = orMissing(f.known)
	}
	t.TokenGaps = f.single && t.Events > 0
	f.model, f.err = reply.Model, err
	t.ReadLag, t.Connect, t.Protocol = reply.ReadLag, reply.Connect, reply.Protocol
	t.Finish, t.NewConnection, t.Warnings = reply.Finish, reply.NewConnection, reply.Warnings
	t.SummariseGaps()
	t.Failure, t.Message = failure(err, cause)
	switch {
	case t.Failure != "":
	case t.Events == 0:
		t.Failure, t.Message = string(engines.NoToken), "the stream ended without a token"
	case model != "" && reply.Model != "" && reply.Model != model:
		t.Failure, t.Message = string(engines.NoModel), fmt.Sprintf("model %q answered, want %q", reply.Model, model)
	}
}

func orMissing(c engines.Count) int {
	if !c.Known {
		return -1
	}
	return c.N
}

// failure is the class and the words of a request's error.
func failure(err, cause error) (class, message string) {
	if err == nil {
		return "", ""
	}
	var e *engines.Error
	typed := errors.As(err, &e)
	if cause != nil && (typed && e.Class == engines.Canceled || errors.Is(err, context.Canceled)) {
		if errors.Is(cause, errDrained) {
			return metric.Unfinished, cause.Error()
		}
		return metric.Aborted, cause.Error()
	}
	if typed {
		return string(e.Class), e.Error()
	}
	return failOther, err.Error()
}

// fail ends a request that was never sent.
func (f *flight) fail(class, message string) {
	f.line.Failure, f.line.Message = class, message
	f.ended, f.unsent = true, true
	f.drop()
}

// drop lets go of what was to be sent.
func (f *flight) drop() { f.request.Tokens, f.request.Text, f.request.Prepared = nil, "", nil }
