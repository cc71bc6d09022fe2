package vllm

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/openai"
)

// resetPath also empties the tiers behind a KV connector, which otherwise
// survive a reset that calls itself a success; servers without one, or too old
// to know the parameter, ignore it.
const resetPath = "/reset_prefix_cache?reset_external=true"

// Flush implements engines.Flusher by POST /reset_prefix_cache. It asks once.
//
// The route exists in development mode only. The status is 200 whether the
// cache was reset or not, so the body decides: {"success": …} since v0.26,
// nothing before, which leaves the flush unverified.
func (e *Engine) Flush(ctx context.Context) (engines.Flush, error) {
	answer, err := e.s.Client().Do(ctx, http.MethodPost, resetPath, nil)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush vllm: %w", err)
	}
	return flushed(answer)
}

// flushed reads the answer to a reset.
func flushed(answer *openai.Answer) (engines.Flush, error) {
	f := engines.Flush{Detail: "POST " + resetPath + ": " + server.Quote(answer)}
	switch answer.Status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		f.Outcome = engines.FlushUnsupported
		f.Remedy = "start the server with VLLM_SERVER_DEV_MODE=1 in its environment"
		return f, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return f, fmt.Errorf("flush vllm: %s: set Config.APIKey or OPENLOOP_API_KEY to the server's key", f.Detail)
	default:
		f.Outcome = engines.FlushRefused
		f.Remedy = "see the server's log for why the reset failed"
		return f, nil
	}
	object, _ := server.Object(answer)
	switch success, known := object["success"].(bool); {
	case !known:
		f.Outcome = engines.FlushUnverified
		f.Remedy = "vLLM says whether a reset succeeded since v0.26; with --enable-prompt-tokens-details its replies prove it"
	case success:
		f.Outcome = engines.Flushed
	default:
		f.Outcome = engines.FlushRefused
		f.Remedy = "requests still run, or blocks are still being moved: wait until the server is idle"
	}
	return f, nil
}
