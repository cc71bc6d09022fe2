package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/secret"
)

// staleWithin is how soon after sending a reused connection must fail for the
// failure to be ours: a server that had already closed the connection says so
// within a round trip, one that dies at work does so at any time.
const staleWithin = 250 * time.Millisecond

// fail makes an *engines.Error whose message begins with the server's address
// and holds no secret.
func (e *Engine) fail(class engines.Class, status int, cause error, format string, args ...any) *engines.Error {
	return &engines.Error{
		Class: class, Status: status, Err: cause,
		Message: e.root + ": " + e.Redact(fmt.Sprintf(format, args...)),
	}
}

// verdict is the end of a stream that was read to its end.
func (e *Engine) verdict(s *stream) error {
	r := s.reply
	post, status := "POST "+e.route.Path, r.Status
	if s.odd > 0 {
		s.warn("%d events had neither choices nor usage nor error", s.odd)
	}
	if !r.OutputTokens.Known && s.tokenEvents > 0 && !s.idGap {
		r.OutputTokens = engines.Known(s.idSum)
	}
	switch {
	case s.foreign:
		return e.notAStream(s)
	case s.fault != "":
		return e.fail(engines.ServerError, status, nil, "%s: error in the stream, %s: %s", post, s.progress(), s.fault)
	case !s.done && r.Finish == "":
		return e.fail(engines.Truncated, status, nil, "%s: the stream ended without [DONE] or a finish reason, %s", post, s.progress())
	case r.Finish == "error" || r.Finish == "abort":
		return e.fail(engines.ServerError, status, nil, "%s: the server gave up (finish reason %q), %s", post, r.Finish, s.progress())
	case s.tokenEvents == 0:
		return e.fail(engines.NoToken, status, nil, "%s: the stream finished without a token", post)
	case !s.done:
		s.warn("the stream ended after its finish reason without [DONE]")
	case r.Finish == "":
		s.warn("the stream ended with [DONE] but without a finish reason")
	}
	if r.OutputTokens == engines.Known(0) {
		r.OutputTokens = engines.Count{}
		s.warn("usage counts no output token though text came: counts are ignored")
	}
	return nil
}

// notAStream is the failure of a 2xx reply whose body is JSON or HTML.
func (e *Engine) notAStream(s *stream) error {
	post := "POST " + e.route.Path
	var ev event
	switch {
	case s.other[0] != '<' && decode(s.other, &ev) == nil && (present(ev.fault) || string(ev.object) == `"error"`):
		return e.fail(engines.ServerError, s.reply.Status, nil, "%s: error instead of a stream: %s", post, serverWords(s.other))
	case ev.choices > 0:
		return e.fail(engines.Protocol, s.reply.Status, nil, "%s: the whole completion came in one JSON body: the server does not stream", post)
	default:
		return e.fail(engines.Protocol, s.reply.Status, nil, "%s: no event stream came but %s", post, serverWords(s.other))
	}
}

// status is the failure of a reply that is not 2xx.
func (e *Engine) status(what string, code int, header http.Header, body []byte) error {
	class, remedy := engines.Status, ""
	switch code {
	case http.StatusBadRequest:
		if e.route.Scheme == "http" && hasAny(string(body), wantsTLS) {
			remedy = useHTTPS
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		class, remedy = engines.Unauthorized, e.keyRemedy()
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		class = engines.Refused
	case http.StatusNotFound:
		if strings.Contains(strings.ToLower(string(body)), "model") {
			class, remedy = engines.NoModel, "ask for a model that the server serves"
		} else {
			remedy = "the server has no such route"
		}
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		remedy = "what is before the server got no answer from it: look into both logs" + e.through(class, nil)
	case http.StatusProxyAuthRequired:
		remedy = "give the proxy its user and password in the URL of Config.Proxy"
	default:
		if to := header.Get("Location"); code/100 == 3 && to != "" {
			remedy = pointsTo(to)
		}
	}
	text := fmt.Sprintf("%s: %d %s", what, code, http.StatusText(code))
	for _, more := range []string{serverWords(body), remedy} {
		if more != "" {
			text += ": " + more
		}
	}
	var cause error
	if code == http.StatusBadRequest || code == http.StatusUnprocessableEntity {
		cause = &rejection{e.Redact(string(body))}
	}
	failure := e.fail(class, code, cause, "%s", text)
	failure.RetryAfter = retryAfter(header.Get("Retry-After"))
	return failure
}

// keyRemedy is what to do where the server lets nobody in. Of an API key, user
// information in the URL and a header, one alone is sent, the first that is set.
func (e *Engine) keyRemedy() string {
	switch {
	case e.cfg.APIKey != "":
		return "the API key that was sent is refused: correct it (OPENLOOP_API_KEY)"
	case e.user:
		return "the user and password of Config.URL are refused: correct them, or set the API key (OPENLOOP_API_KEY)"
	case e.header.Get("Authorization") != "":
		return "the Authorization of Config.Header is refused: correct it, or set the API key (OPENLOOP_API_KEY)"
	case len(e.header) == 0:
		return "no API key was sent: set it (OPENLOOP_API_KEY)"
	}
	return "set the API key (OPENLOOP_API_KEY) or correct Config.Header"
}

// pointsTo is what to do about a redirection.
func pointsTo(location string) string {
	to, ok := secret.URL(location)
	if !ok {
		to = "a place that is no URL"
	}
	return "it points to " + to + ", which is not followed: correct the URL"
}

// retryAfter reads a delay in seconds or a date.
func retryAfter(s string) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// unfit is the failure of a stream whose bytes are not what they should be, or
// are no longer wanted.
func (e *Engine) unfit(parent context.Context, why error, a *attempt, s *stream, bad error) error {
	if parent.Err() != nil {
		return e.broken(parent, why, a, "POST "+e.route.Path+", "+s.progress(), bad)
	}
	return e.fail(engines.Protocol, a.reply.Status, bad, "POST %s: %v", e.route.Path, bad)
}

// cut is what came of a stream whose reading failed.
func (e *Engine) cut(parent context.Context, why error, a *attempt, s *stream, err error) error {
	switch err = bare(err); {
	case !s.over():
		return e.broken(parent, why, a, "POST "+e.route.Path+", "+s.progress(), err)
	case why == errStayed:
		s.warn("the stream stayed open after its last event")
	case parent.Err() == nil && malformed(err):
		s.warn("what follows the last event cannot be read: %s", words(err.Error()))
	case parent.Err() == nil:
		s.warn("the connection broke after the last event")
	}
	return e.verdict(s)
}

// broken is the failure of a request that the network, or the caller, ended;
// why is the cause by which it was given up, if it was.
func (e *Engine) broken(parent context.Context, why error, a *attempt, what string, err error) error {
	switch {
	case parent.Err() != nil:
		return e.fail(engines.Canceled, a.reply.Status, context.Cause(parent), "%s: canceled: %v", what, context.Cause(parent))
	case why == errSilent:
		return e.fail(engines.Silent, a.reply.Status, errSilent, "%s: no byte for %v%s", what, e.cfg.Silence, e.through(engines.Silent, err))
	}
	err = bare(err)
	class := engines.Reset
	switch _, disagree := tlsCause(err); {
	case exhausted(err):
		class = engines.Client
	case malformed(err), disagree:
		class = engines.Protocol
	case a.got.IsZero():
		class = engines.Unreachable
	case a.kept && a.reply.Status == 0 && time.Since(a.got) < staleWithin:
		class = engines.Stale
	case a.reply.Status == 0 && brokenOff(err) && e.speaksTLS(parent):
		return e.fail(engines.Protocol, 0, err, "%s: %s", what, useHTTPS)
	}
	return e.fail(class, a.reply.Status, err, "%s: %s", what, e.cause(class, a, err))
}

// atEnd reports that the other side closed the connection in good order. (A
// closed pipe of io is one that this side closed: conn names the others.)
func atEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
