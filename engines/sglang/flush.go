package sglang

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/server"
	"github.com/openloop-go/openloop/engines/openai"
)

// flushPath lets the server wait until it is idle: a request can have been
// answered in full while the scheduler still counts it, and a flush in that
// moment is refused. Servers too old for the parameter ignore it.
const flushPath = "/flush_cache?timeout=5"

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
	answer, err := client.Do(ctx, http.MethodPost, flushPath, nil)
	if err != nil {
		return engines.Flush{}, fmt.Errorf("flush sglang: %w", err)
	}
	return flushed(answer)
}

// flushed reads the answer to a flush.
func flushed(answer *openai.Answer) (engines.Flush, error) {
	f := engines.Flush{Detail: "POST " + flushPath + ": " + server.Quote(answer)}
	switch answer.Status {
	case http.StatusOK:
		f.Outcome = engines.Flushed
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		f.Outcome = engines.FlushUnsupported
		f.Remedy = "something between here and the server hides /flush_cache: attach to the server itself"
	case http.StatusUnauthorized, http.StatusForbidden:
		return f, fmt.Errorf("flush sglang: %s: set Config.AdminKey to the server's admin key", f.Detail)
	case http.StatusBadRequest:
		f.Outcome = engines.FlushRefused
		f.Remedy = "requests still run or wait: wait until the server is idle"
	default:
		f.Outcome = engines.FlushRefused
		f.Remedy = "see the server's log for why the flush failed"
	}
	return f, nil
}
