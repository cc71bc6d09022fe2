package enginetest

import "github.com/openloop-go/openloop/engines"

// prepare: what an engine readies ahead of time is served as any request is,
// and taken; what cannot be sent is still refused, in Generate.
func (s *suite) prepare() {
	p, ok := s.engine.(engines.Preparer)
	if !ok {
		return
	}
	r := s.request(s.o.Prompt, s.o.Output)
	p.Prepare(r)
	if w := s.good("prepare", r); w != nil && r.Prepared != nil {
		s.wrong("prepare", "%s: Generate left Request.Prepared, a %T, where it was", r.ID, r.Prepared)
	}
	r = s.request(s.o.Prompt, 1)
	r.MaxTokens, r.MinTokens = 0, 0
	p.Prepare(r)
	if w, returned := s.generate(s.ctx, r, nil, s.o.Patience); returned && w.err == nil {
		s.wrong("prepare", "%s: a prepared request for %d tokens must fail", r.ID, r.MaxTokens)
	}
}
