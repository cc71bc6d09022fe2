package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/flush"
	"github.com/openloop-go/openloop/engines/internal/owners"
)

// Flush implements engines.Flusher for a server whose kind is not known, by the
// routes that other servers have: vLLM's, which others have taken over, and
// SGLang's. The first that answers for the server decides. One that is not there,
// leads elsewhere or wants another key does not: where both do so, the flush is
// unsupported, and the remedy says how the server is kept from reusing prompts, if
// its models' owner gives its kind away, or what the last that is there wants.
//
// Then, where nothing was flushed and once for an engine, a generation of one
// token finds out whether the server takes a cache salt: TensorRT-LLM, for one,
// takes it in chats and refuses every completion that has it (Flush.Saltless).
func (e *Engine) Flush(ctx context.Context) (engines.Flush, error) {
	var asked []string
	f := engines.Flush{Outcome: engines.FlushUnsupported}
	for _, path := range []string{flush.VLLMPath, flush.SGLangPath} {
		answer, err := e.Do(ctx, http.MethodPost, path, nil)
		if err != nil {
			return engines.Flush{}, fmt.Errorf("flush: %w", err)
		}
		said := "POST " + path + ": " + answer.Quote()
		next := flush.Any(answer.Status, answer.Body)
		if next.Outcome != engines.FlushUnsupported {
			f, asked = next, []string{said}
			break
		}
		if next.Remedy != "" {
			f = next
		}
		asked = append(asked, said)
	}
	f.Detail = strings.Join(asked, "; ")
	if f.Outcome == engines.Flushed {
		return f, nil
	}
	if f.Remedy == "" {
		f.Remedy = e.unflushable(ctx)
	}
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
