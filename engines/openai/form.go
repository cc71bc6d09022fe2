package openai

import (
	"errors"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

// option is a field that some servers reject, and what is lost without it.
type option struct {
	name, loss string
}

// optional are the fields that a request can do without, in the order in which
// an error text is searched for them. cache_salt is none of them: a caller who
// salts must not be answered from a cache that knows no salts.
var optional = []option{
	{"continuous_usage_stats", "tokens per event are unknown"},
	{"return_token_ids", "token ids are not returned"},
	{"stream_options", "the server's token counts are unknown"},
	{"max_tokens", "max_completion_tokens alone limits the output"},
	{"max_completion_tokens", "max_tokens alone limits the output"},
	{"min_tokens", "outputs may be shorter than asked"},
	{"ignore_eos", "outputs may end before the length asked"},
}

func optionNames() string {
	names := make([]string, len(optional))
	for i, o := range optional {
		names[i] = o.name
	}
	return strings.Join(names, ", ")
}

// form is which optional fields are sent. It is never changed, only replaced.
type form struct {
	dropped  []string
	warnings []string
}

func newForm(cfg *Config) *form {
	f := &form{dropped: slices.Clone(cfg.Omit)}
	if !cfg.Chat {
		// Only chat has both spellings.
		f.dropped = append(f.dropped, "max_completion_tokens")
		f.dropped = slices.DeleteFunc(f.dropped, func(s string) bool { return s == "max_tokens" })
	}
	if !cfg.TokenIDs {
		f.dropped = append(f.dropped, "return_token_ids")
	}
	return f
}

func (f *form) sends(name string) bool { return !slices.Contains(f.dropped, name) }

// without returns the form that lacks the optional fields that a rejection
// names as unknown, nil when it names none: then the rejection is about
// something else.
func (f *form) without(rejection string) *form {
	text := strings.ToLower(rejection)
	if !slices.ContainsFunc(unknownWords, func(w string) bool { return strings.Contains(text, w) }) {
		return nil
	}
	for _, o := range optional {
		if !f.sends(o.name) || !strings.Contains(text, o.name) || f.last(o.name) {
			continue
		}
		return &form{
			dropped:  append(slices.Clone(f.dropped), o.name),
			warnings: append(slices.Clone(f.warnings), "the server rejects "+o.name+", which is no longer sent: "+o.loss),
		}
	}
	return nil
}

// last reports that a field is the only limit of the output that is left.
func (f *form) last(name string) bool {
	return name == "max_tokens" && !f.sends("max_completion_tokens") ||
		name == "max_completion_tokens" && !f.sends("max_tokens")
}

// unknownWords tell a field that a server does not know from one whose value
// it does not like.
var unknownWords = []string{
	"unrecognized", "unrecognised", "unknown", "unsupported", "not supported", "not support", "unexpected",
	"extra_forbidden", "extra inputs", "extra fields", "not permitted", "additional properties", "no such field",
	"not allowed",
}

// rejection is the cause of a failure with status 400 or 422: the body.
type rejection struct{ body string }

func (r *rejection) Error() string { return r.body }

// yield is the form to send a request in again after a failure in form f, nil
// when the failure stands. Once a request has been accepted the form is
// settled: a request in that form is sent once.
func (e *Engine) yield(f *form, err error) *form {
	if err == nil {
		return nil
	}
	var r *rejection
	var failure *engines.Error
	if !errors.As(err, &failure) || !errors.As(failure.Err, &r) {
		return nil
	}
	if now := e.form.Load(); now != f {
		return now // another request found out meanwhile
	}
	if e.settled.Load() {
		return nil
	}
	next := f.without(r.body)
	if next == nil || e.form.CompareAndSwap(f, next) {
		return next
	}
	return e.form.Load()
}
