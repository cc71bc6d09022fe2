package vllm

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/flush"
)

// Flush implements engines.Flusher by POST /reset_prefix_cache. It asks once.
//
// The route exists in development mode only. The status is 200 whether the
// cache was reset or not, so the body decides: {"success": …} since v0.26,
// nothing before, which leaves the flush unverified.
func (e *Engine) Flush(ctx context.Context) (engines.Flush, error) {
	answer, err := e.s.Client().Do(ctx, http.MethodPost, flush.VLLMPath, nil)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush vllm: %w", err)
	}
	f := flush.VLLM(answer.Status, answer.Body)
	f.Detail = "POST " + flush.VLLMPath + ": " + answer.Quote()
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return engines.Flush{}, fmt.Errorf("flush vllm: %s: set Config.APIKey or OPENLOOP_API_KEY to the server's key", f.Detail)
	}
	return f, nil
}
