package benchtest

import (
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/secret"
)

// clean takes the engine's secrets and the configured API key out of a text,
// because servers repeat them.
func (s *session) clean(text string) string {
	if text == "" {
		return ""
	}
	if r, ok := s.engine.(engines.Redactor); ok {
		text = r.Redact(text)
	}
	return secret.Values(s.options.Config.APIKey).Redact(text)
}

// redact takes every secret out of a record: settings and flags that are
// secret by name, and those that the engine was given wherever they turn up.
func (s *session) redact(r *metric.Record) {
	clean := s.clean
	for i, p := range r.Identity {
		if secret.Name(p.Key) {
			p.Value = secret.Mark
		}
		r.Identity[i].Value = clean(secret.Command(p.Value))
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
