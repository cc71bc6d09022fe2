package benchtest

import (
	"regexp"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// hidden stands for a secret.
const hidden = "(hidden)"

// secretKey is a setting whose value is not recorded. Token alone is one, and
// the tokens of max-num-batched-tokens are not.
var secretKey = regexp.MustCompile(`(?i)api[-_]?key|secret|passw|credential|authorization|(^|[-_])token$|private[-_]?key`)

// secretFlag finds such a setting in a command line.
var secretFlag = regexp.MustCompile(`(?i)((?:--?|\b)[\w-]*(?:api[-_]?key|secret|passw\w*|credential\w*|authorization|[-_]token)(?:=|\s+|:\s*))(?:bearer\s+)?("[^"]*"|'[^']*'|\S+)`)

// redact takes every secret out of a record: settings and flags that are
// secret by name, and the configured API key wherever it turns up, because
// servers repeat it in error messages.
func (s *session) redact(r *metric.Record) {
	key := s.options.Config.APIKey
	clean := func(text string) string {
		if key != "" {
			text = strings.ReplaceAll(text, key, hidden)
		}
		return text
	}
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
