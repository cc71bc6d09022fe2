package enginetest

import "github.com/openloop-go/openloop/engines"

// prepare: what an engine readies ahead of time is served as any request is,
// also when it was changed since, and again; what cannot be sent is still
// refused, in Generate.
func (s *suite) prepare() {
	p, ok := s.engine.(engines.Preparer)
	if !ok {
		return
	}
	r := s.request(s.o.Prompt, s.o.Output)
	p.Prepare(r)
	s.good("prepare", r)
	changed := s.request(s.o.Prompt, 2*s.o.Output)
	changed.Prepared = r.Prepared
	s.good("prepare", changed)
	p.Prepare(changed)
	changed.MaxTokens, changed.MinTokens = s.o.Output, s.o.Output
	changed.Tokens, changed.Text = s.o.Prompts(s.requests, s.o.Prompt/2)
	s.good("prepare", changed)
	r = s.request(s.o.Prompt, 1)
	r.MaxTokens, r.MinTokens = 0, 0
	p.Prepare(r)
	if w, returned := s.generate(s.ctx, r, nil, s.o.Patience); returned && w.err == nil {
		s.wrong("prepare", "%s: a prepared request for %d tokens must fail", r.ID, r.MaxTokens)
	}
}
