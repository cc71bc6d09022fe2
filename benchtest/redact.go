package benchtest

import (
	"regexp"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// hidden stands for a secret.
const hidden = "(hidden)"

// secretKey is a setting whose value is not recorded. Token alone is one, and
// the tokens of max-num-batched-tokens are not.
var secretKey = regexp.MustCompile(`(?i)api[-_]?key|secret|passw|credential|authorization|(^|[-_])token$|private[-_]?key`)

// secretFlag finds such a setting in a command line.
var secretFlag = regexp.MustCompile(`(?i)((?:--?|\b)[\w-]*(?:api[-_]?key|secret|passw\w*|credential\w*|authorization|[-_]token)(?:=|\s+|:\s*))(?:bearer\s+)?("[^"]*"|'[^']*'|\S+)`)

// leastKey is the length below which a key is part of too many words to be
// taken out of a text.
const leastKey = 6

// clean takes the engine's secrets and the configured API key out of a text,
// because servers repeat them.
func (s *session) clean(text string) string {
	if r, ok := s.engine.(engines.Redactor); ok {
		text = r.Redact(text)
	}
	if key := s.options.Config.APIKey; len(key) >= leastKey {
		text = strings.ReplaceAll(text, key, hidden)
	}
	return text
}

// redact takes every secret out of a record: settings and flags that are
// secret by name, and those that the engine was given wherever they turn up.
func (s *session) redact(r *metric.Record) {
	clean := s.clean
	for i, p := range r.Identity {
		if secretKey.MatchString(p.Key) {
			p.Value = hidden
		}
		r.Identity[i].Value = clean(secretFlag.ReplaceAllString(p.Value, "${1}"+hidden))
	}
	for _, lines := range [][]metric.Timeline{r.Requests, r.Probes} {
		for i := range lines {
			t := &lines[i]
			t.Message = clean(t.Message)
			for k := range t.Warnings {
				t.Warnings[k] = clean(t.Warnings[k])
			}
		}
	}
	for i := range r.Problems {
		r.Problems[i].Text = clean(r.Problems[i].Text)
	}
	for i := range r.Warnings {
		r.Warnings[i] = clean(r.Warnings[i])
	}
	for i := range r.Client.Reasons {
		r.Client.Reasons[i] = clean(r.Client.Reasons[i])
	}
	r.FlushDetail = clean(r.FlushDetail)
}
