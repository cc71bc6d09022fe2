package doctor

import (
	"fmt"
	"strings"
)

// routes tells which routes are there. Those with a finding of their own
// (metrics, flush) are left to it; a POST route is known by its 405.
func (v *visit) routes() bool {
	var there, missing, lost []string
	for _, r := range routesOf[v.report.Kind] {
		a, err := v.answer("GET", r.path, nil)
		starting := r.path == "/health" && err == nil && a.status == 503
		if starting {
			a, starting, err = v.started(a)
		}
		switch {
		case v.ctx.Err() != nil:
			return false
		case starting:
			v.say("health", Warn, "wait until it has started: what it still does by itself slows what is measured", "/health answers 503 for %v: the server is starting, or about to end", v.cfg.Patience)
			there = append(there, r.path)
		case err != nil:
			missing = append(missing, fmt.Sprintf("%s (%v)", r.path, err))
			lost = append(lost, r.loss)
		case a.status/100 == 2 || a.status == 405 || a.status == 400 || a.status == 422:
			there = append(there, r.path)
		default:
			missing = append(missing, fmt.Sprintf("%s (%d)", r.path, a.status))
			lost = append(lost, r.loss)
		}
	}
	seen := "there: " + strings.Join(there, " ")
	switch {
	case len(there)+len(missing) == 0:
		v.say("routes", Unknown, "", "those of a server of unknown kind are not known")
	case len(missing) > 0:
		v.say("routes", Warn, "attach to the server itself, or update it: "+strings.Join(lost, "; "), "%s; missing: %s", seen, strings.Join(missing, " "))
	default:
		v.say("routes", OK, "", "%s", seen)
	}
	if v.report.Kind == "vllm" {
		v.developmentMode()
	}
	return true
}

// answer is a server's answer, and the second one where the first says that it
// failed by itself.
func (v *visit) answer(method, path string, body map[string]any) (*answer, error) {
	a, err := v.raw.do(v.ctx, method, path, body)
	if err == nil && a.failed() {
		a, err = v.raw.do(v.ctx, method, path, body)
	}
	return a, err
}

// started waits for a server that serves, and says that it has not started yet:
// SGLang warms itself up by requests of its own.
func (v *visit) started(a *answer) (last *answer, starting bool, err error) {
	ready := v.until(v.cfg.Patience, func() bool {
		if a, err = v.raw.do(v.ctx, "GET", "/health", nil); err != nil {
			return true
		}
		return a.status != 503
	})
	return a, !ready, err
}

// routesOf are the routes that a measurement asks, beside those of metrics and
// flush, and what is lost without each.
var routesOf = map[string][]struct{ path, loss string }{
	"vllm": {
		{"/health", "without /health its state is not told"},
		{"/version", "without /version its version is unrecorded"},
		{"/v1/completions", "without /v1/completions prompts have no exact length"},
		{"/v1/chat/completions", "without /v1/chat/completions chats cannot be asked"},
	},
	"sglang": {
		{"/health", "without /health its state is not told"},
		{"/server_info", "without /server_info version and settings are unrecorded"},
		{"/v1/loads", "without /v1/loads the queue is read off the metrics, which lag"},
		{"/v1/completions", "without /v1/completions prompts have no exact length"},
		{"/v1/chat/completions", "without /v1/chat/completions chats cannot be asked"},
	},
	"llamacpp": {
		{"/health", "without /health its state is not told"},
		{"/props", "without /props version and slots are unrecorded"},
		{"/slots", "without /slots the queue is told by the metrics only (start the server without --no-slots)"},
	},
}

// developmentMode is told by whether the flush has a route.
func (v *visit) developmentMode() {
	const name, path = "development-mode", "/reset_prefix_cache"
	a, err := v.answer("GET", path, nil)
	switch {
	case err != nil:
		v.say(name, Unknown, "", "%s: %v", path, err)
	case a.status == 405:
		v.say(name, OK, "", "on: %s is there", path)
	case a.status == 404:
		v.say(name, Warn, "start the server with VLLM_SERVER_DEV_MODE=1 in its environment", "off: %s is not there, so the prefix cache cannot be flushed", path)
	default:
		v.say(name, Unknown, "", "GET %s: status %d", path, a.status)
	}
}
