package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/owners"
)

// flushPaths are the routes by which servers empty their prefix cache: vLLM's,
// which others have taken over, and SGLang's. What the parameters are for is
// said in the packages of these kinds.
var flushPaths = []string{"/reset_prefix_cache?reset_external=true", "/flush_cache?timeout=5"}

// Flush implements engines.Flusher for a server whose kind is not known, by the
// routes that other servers have: the first of vLLM's and SGLang's that is
// there. Where neither is, the flush is unsupported, and the remedy says how the
// server is kept from reusing prompts, if its models' owner gives its kind away.
//
// Then, once for an engine, a generation of one token finds out whether the
// server takes a cache salt: TensorRT-LLM, for one, takes it in chats and
// refuses every completion that has it (Flush.Saltless).
func (e *Engine) Flush(ctx context.Context) (engines.Flush, error) {
	var asked []string
	for _, path := range flushPaths {
		answer, err := e.Do(ctx, http.MethodPost, path, nil)
		if err != nil {
			return engines.Flush{}, fmt.Errorf("flush: %w", err)
		}
		asked = append(asked, "POST "+path+": "+e.quote(answer))
		switch answer.Status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			continue
		}
		return flushed(answer, asked[len(asked)-1]), nil
	}
	f := engines.Flush{Outcome: engines.FlushUnsupported, Detail: strings.Join(asked, "; "), Remedy: e.unflushable(ctx)}
	refusal, err := e.saltless(ctx)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush: %w", err)
	}
	if refusal != "" {
		f.Saltless = true
		f.Detail += "; requests with a cache_salt are refused (" + refusal + ")"
	}
	return f, nil
}

// flushed reads the answer of a route that is there.
func flushed(answer *Answer, detail string) engines.Flush {
	f := engines.Flush{Outcome: engines.FlushRefused, Detail: detail, Remedy: "see the server's log for why the flush failed"}
	var body struct{ Success *bool }
	switch answer.Status {
	case http.StatusOK:
		switch {
		case strings.HasPrefix(string(answer.Body), "Cache flushed."), json.Unmarshal(answer.Body, &body) == nil && body.Success != nil && *body.Success:
			f.Outcome, f.Remedy = engines.Flushed, ""
		case body.Success == nil:
			f.Outcome, f.Remedy = engines.FlushUnverified, "the answer says nothing of success: only the cached tokens of replies prove it"
		default:
			f.Remedy = "requests may still run: wait until the server is idle"
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Outcome, f.Remedy = engines.FlushUnsupported, "set Config.APIKey to a key that may flush"
	case http.StatusBadRequest, http.StatusConflict, http.StatusServiceUnavailable:
		f.Remedy = "requests may still run: wait until the server is idle"
	}
	return f
}

// unflushable is the remedy for a server without a flush.
func (e *Engine) unflushable(ctx context.Context) string {
	models, _ := e.Models(ctx)
	for _, m := range models {
		if kind, known := owners.By(m.OwnedBy); known {
			return kind.Cold
		}
	}
	return "to rule reuse out start the server without a prefix cache (Text Generation Inference: PREFIX_CACHING=0), or restart it between runs"
}

// salting is whether a server takes a cache salt.
type salting struct{ refusal string }

// saltless asks, once, whether requests with a cache salt are refused, and
// returns the refusal. A server that fails for another reason, or does so now,
// is asked again by the next flush.
func (e *Engine) saltless(ctx context.Context) (refusal string, err error) {
	if known := e.salting.Load(); known != nil {
		return known.refusal, nil
	}
	r := engines.Request{Text: "openloop", MaxTokens: 1, CacheSalt: "openloop"}
	_, err = e.Generate(ctx, &r, func(engines.Chunk) {})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	failure, said := (*engines.Error)(nil), (*rejection)(nil)
	errors.As(err, &failure)
	switch {
	case err == nil, failure != nil && failure.Class == engines.NoToken:
	case failure != nil && errors.As(failure.Err, &said) && said.unknown("cache_salt"):
		refusal = fmt.Sprintf("status %d: %s", failure.Status, serverWords([]byte(said.body)))
	default:
		return "", nil // nobody knows: requests carry one, and fail where it is not taken
	}
	e.salting.Store(&salting{refusal})
	return refusal, nil
}

// unknown reports that a rejection names a field as one that is not known.
func (r *rejection) unknown(field string) bool {
	text := strings.ToLower(r.body)
	return strings.Contains(text, field) && slices.ContainsFunc(unknownWords, func(w string) bool { return strings.Contains(text, w) })
}

// quote is what came back, short enough for a message.
func (e *Engine) quote(answer *Answer) string {
	said := serverWords(answer.Body)
	if said == "" {
		said = "empty body"
	}
	return e.redact(fmt.Sprintf("status %d, %s", answer.Status, said))
}
