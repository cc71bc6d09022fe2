package sglang

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/flush"
)

// Flush implements engines.Flusher by POST /flush_cache. It asks once.
//
// The status decides: older servers send the same "Cache flushed." with 200
// and with 400. Even a 200 speaks for one rank only, so a flush is proved by
// the cached tokens of the requests after it.
func (e *Engine) Flush(ctx context.Context) (engines.Flush, error) {
	key := ""
	if e.s.Process() == nil {
		key = e.admin
	}
	client, done, err := e.s.Admin(key)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush sglang: %w", err)
	}
	defer done()
	answer, err := client.Do(ctx, http.MethodPost, flush.SGLangPath, nil)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush sglang: %w", err)
	}
	f := flush.SGLang(answer.Status, answer.Body)
	f.Detail = "POST " + flush.SGLangPath + ": " + answer.Quote()
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return engines.Flush{}, fmt.Errorf("flush sglang: %s: set Config.AdminKey to the server's admin key", f.Detail)
	}
	return f, nil
}
