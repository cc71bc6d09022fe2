package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/openloop-go/openloop/engines"
)

// errors looks at how the server says that a request is wrong: one without a
// prompt.
func (v *visit) errors() bool {
	const name = "errors"
	path, body := v.body(1)
	delete(body, "prompt")
	delete(body, "messages")
	body["stream"], body["max_tokens"] = true, 1
	a, err := v.answer("POST", path, body)
	const remedy = "a request that fails for its own fault would count as one that the server could not serve; read its message"
	switch {
	case v.ctx.Err() != nil:
		return false
	case err != nil:
		v.say(name, Warn, remedy, "a request without a prompt broke the connection: %v", err)
	case a.status/100 == 4 && message(a.body):
		v.say(name, OK, "", "a request without a prompt: status %d and a message", a.status)
	case a.status/100 == 4:
		v.say(name, Warn, "see the server's log for the reason of a failure", "a request without a prompt: status %d and no message in JSON", a.status)
	case a.status/100 == 2 && bytes.Contains(a.body, []byte(`"error"`)):
		v.say(name, Warn, "the failure is counted, as server-error, whatever the status says", "a request without a prompt: status %d and an error in the stream", a.status)
	case a.status/100 == 2:
		v.say(name, Warn, "what is between here and the server may change requests: go round it", "a request without a prompt was answered: status %d", a.status)
	default:
		v.say(name, Warn, remedy, "a request without a prompt: status %d", a.status)
	}
	return true
}

// lookAgain is the remedy for what failed for a reason that passes.
const lookAgain = "look again when the server serves: it may be loading, or have more to do than it can; else see its log"

// passing reports a failure that says nothing of what was asked for: the server
// was not there, declined, broke off or failed by itself.
func passing(err error) bool {
	failure := (*engines.Error)(nil)
	if !errors.As(err, &failure) {
		return false
	}
	switch failure.Class {
	case engines.Refused, engines.Reset, engines.Unreachable, engines.Stale, engines.Silent:
		return true
	}
	return failure.Status >= 500 && failure.Status != http.StatusNotImplemented // that does not pass: it is switched off
}

// message reports that a body is an object that says what is wrong.
func message(body []byte) bool {
	var o map[string]any
	if json.Unmarshal(body, &o) != nil {
		return false
	}
	for _, field := range []string{"error", "message", "detail"} {
		if o[field] != nil && o[field] != "" {
			return true
		}
	}
	return false
}

// failures: generations that failed, whatever they were for.
func (v *visit) failures() {
	if v.report.Stopped {
		return
	}
	if v.failed > 0 {
		v.say("failures", Fault, "find out why in the server's log: a run with more than 1 % is invalid", "%d of %d generations failed; the first: %s", v.failed, v.sent, v.mishap)
		return
	}
	v.say("failures", OK, "", "none of %s failed", fmt.Sprintf("%d generations", v.sent))
}
