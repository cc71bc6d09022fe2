package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
)

// The remedies, where a flush is not one.
const (
	noErase = "start the server with --slot-save-path DIR and --cache-ram 0; what cached tokens say of each request holds without a flush"
	ramTier = "the slots are empty, and there may be a cache in the host's memory, which nothing empties: start the server with --cache-ram 0; cached tokens tell what it served"
)

// Flush implements engines.Flusher by erasing the cache of every slot, which
// is all that llama.cpp can be told to forget. It is believed where nothing
// else can serve a prompt: every request refuses the caches, or the server was
// started here without the one in the host's memory. Else it is unverified.
//
// A server started without --slot-save-path erases nothing, and the flush is
// unsupported. Coldness does not need it: with Config.PromptCache off no
// request is served from a cache, and the cached tokens of each (cache_n)
// prove it.
func (e *Engine) Flush(ctx context.Context) (engines.Flush, error) {
	p, err := e.props(ctx)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush llamacpp: %w", err)
	}
	if p.Slots < 1 {
		return engines.Flush{
			Outcome: engines.FlushUnsupported, Detail: "GET /props tells no number of slots",
			Remedy: "attach to the llama-server itself; " + noErase,
		}, nil
	}
	erased := 0
	for slot := range p.Slots {
		n, refused, err := e.erase(ctx, slot)
		if err != nil || refused.Outcome != "" {
			return refused, err
		}
		erased += n
	}
	f := engines.Flush{
		Outcome: engines.Flushed,
		Detail:  fmt.Sprintf("POST /slots/{0…%d}?action=erase: %d tokens erased", p.Slots-1, erased),
	}
	if e.cached && !e.ramless() {
		f.Outcome, f.Remedy = engines.FlushUnverified, ramTier
	}
	return f, nil
}

// erase empties one slot. A flush with an outcome is why it did not.
func (e *Engine) erase(ctx context.Context, slot int) (tokens int, refused engines.Flush, err error) {
	path := fmt.Sprintf("/slots/%d?action=erase", slot)
	answer, err := e.s.Client().Do(ctx, http.MethodPost, path, nil)
	if err != nil {
		return 0, refused, fmt.Errorf("flush llamacpp: %w", err)
	}
	refused.Detail = "POST " + path + ": " + answer.Quote()
	var body struct {
		Erased *int `json:"n_erased"`
	}
	switch answer.Status {
	case http.StatusOK:
		if json.Unmarshal(answer.Body, &body) == nil && body.Erased != nil {
			return *body.Erased, engines.Flush{}, nil
		}
		refused.Outcome = engines.FlushUnverified
		refused.Remedy = "this is no answer of llama-server's: attach to the server itself"
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		refused.Outcome, refused.Remedy = engines.FlushUnsupported, noErase
	case http.StatusUnauthorized, http.StatusForbidden:
		return 0, engines.Flush{}, fmt.Errorf("flush llamacpp: %s: set Config.APIKey to the server's key", refused.Detail)
	default:
		refused.Outcome, refused.Remedy = engines.FlushRefused, "see the server's log for why the slot was not erased"
	}
	return 0, refused, nil
}

// ramless reports that the server was started here without a cache in the
// host's memory. The environment could not have switched it on: an argument
// wins.
func (e *Engine) ramless() bool {
	return e.s.Process() != nil && e.s.Identity().Settings["cache_ram"] == "0"
}
