// Package flush reads what servers answer when they are asked to empty their
// prefix cache.
package flush

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/openloop-go/openloop/engines"
)

const (
	// VLLMPath is vLLM's route, which others have taken over. The parameter also
	// empties the tiers behind a KV connector, which otherwise survive a reset that
	// calls itself a success; servers without one, or too old to know the
	// parameter, ignore it.
	VLLMPath = "/reset_prefix_cache?reset_external=true"
	// SGLangPath is SGLang's. The parameter lets the server wait until it is idle:
	// a request can have been answered in full while the scheduler still counts
	// it, and a flush in that moment is refused. Servers too old for the parameter
	// ignore it.
	SGLangPath = "/flush_cache?timeout=5"
)

const trouble = "see the server's log for why the flush failed"

// VLLM reads an answer of vLLM's route, given its status and body. The status is
// 200 whether the cache was reset or not, so the body decides: {"success": …}
// since v0.26, nothing before. Detail is left to the caller, here and below.
func VLLM(status int, body []byte) engines.Flush {
	switch status {
	case http.StatusOK:
		switch success := success(body); {
		case success == nil:
			return engines.Flush{Outcome: engines.FlushUnverified,
				Remedy: "vLLM says whether a reset succeeded since v0.26; with --enable-prompt-tokens-details its replies prove it"}
		case *success:
			return engines.Flush{Outcome: engines.Flushed}
		}
		return engines.Flush{Outcome: engines.FlushRefused,
			Remedy: "requests still run, or blocks are still being moved: wait until the server is idle"}
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return engines.Flush{Outcome: engines.FlushUnsupported, Remedy: "start the server with VLLM_SERVER_DEV_MODE=1 in its environment"}
	}
	return engines.Flush{Outcome: engines.FlushRefused, Remedy: trouble}
}

// SGLang reads an answer of SGLang's route. The status decides: older servers
// send the same "Cache flushed." with 200 and with 400.
func SGLang(status int, _ []byte) engines.Flush {
	switch status {
	case http.StatusOK:
		return engines.Flush{Outcome: engines.Flushed}
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return engines.Flush{Outcome: engines.FlushUnsupported,
			Remedy: "something between here and the server hides /flush_cache: attach to the server itself"}
	case http.StatusBadRequest:
		return engines.Flush{Outcome: engines.FlushRefused, Remedy: "requests still run or wait: wait until the server is idle"}
	}
	return engines.Flush{Outcome: engines.FlushRefused, Remedy: trouble}
}

// Any reads an answer of either route of a server that may be of any kind, or a
// gateway, so that a success is believed only in the words of one of them. An
// unsupported flush without a remedy is a route that is not there.
func Any(status int, body []byte) engines.Flush {
	const busy = "requests may still run: wait until the server is idle"
	success := success(body)
	switch {
	case status/100 == 2 && success != nil && !*success:
		return engines.Flush{Outcome: engines.FlushRefused, Remedy: busy}
	case status/100 == 2 && (success != nil || bytes.HasPrefix(body, []byte("Cache flushed."))):
		return engines.Flush{Outcome: engines.Flushed}
	case status/100 == 2:
		return engines.Flush{Outcome: engines.FlushUnverified, Remedy: "the answer says nothing of success: only the cached tokens of replies prove it"}
	case status/100 == 3:
		return engines.Flush{Outcome: engines.FlushUnsupported, Remedy: "the URL is not the server's root, or wants a login: correct it"}
	}
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return engines.Flush{Outcome: engines.FlushUnsupported}
	case http.StatusUnauthorized, http.StatusForbidden:
		return engines.Flush{Outcome: engines.FlushUnsupported, Remedy: "set Config.APIKey to a key that may flush"}
	case http.StatusBadRequest, http.StatusConflict, http.StatusServiceUnavailable:
		return engines.Flush{Outcome: engines.FlushRefused, Remedy: busy}
	}
	return engines.Flush{Outcome: engines.FlushRefused, Remedy: trouble}
}

// success is what a JSON object says of it; nil says nothing.
func success(body []byte) *bool {
	var said struct{ Success *bool }
	if json.Unmarshal(body, &said) != nil {
		return nil
	}
	return said.Success
}
