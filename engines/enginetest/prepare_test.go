package enginetest_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
)

// preparing is an engine that prepares requests in a way, and serves what it
// prepared in another.
type preparing struct {
	*fake
	ready func(r *engines.Request)
	serve func(r engines.Request) engines.Request
}

func (p *preparing) Prepare(r *engines.Request) { p.ready(r) }

func (p *preparing) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	other := p.serve(*r)
	return p.fake.Generate(ctx, &other, emit)
}

func TestRequestsThatArePrepared(t *testing.T) {
	note := func(r *engines.Request) { before := *r; r.Prepared = &before }
	asIs := func(r engines.Request) engines.Request { return r }
	for what, tt := range map[string]struct {
		ready func(r *engines.Request)
		serve func(r engines.Request) engines.Request
		want  string
	}{
		"as it should be":     {note, asIs, ""},
		"nothing is prepared": {func(*engines.Request) {}, asIs, ""},
		"what was prepared is served, whatever is asked for now": {note, func(r engines.Request) engines.Request {
			if before, ok := r.Prepared.(*engines.Request); ok {
				r.MaxTokens, r.Tokens = before.MaxTokens, before.Tokens
			}
			return r
		}, "length: enginetest-000029: 16 tokens out, asked for exactly 32 (prepare)\n" +
			"length: enginetest-000029: 32 tokens out, asked for exactly 16 (prepare)\n" +
			"counts: enginetest-000029: PromptTokens is 32 for a prompt of 16 token ids"},
		"what is wrong is served": {func(r *engines.Request) { note(r); r.MaxTokens = 16 }, asIs, "prepare: enginetest-000030: a prepared request for 16 tokens must fail"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := enginetest.Test(t.Context(), &preparing{newFake(), tt.ready, tt.serve}, enginetest.Options{})
				if tt.want == "" {
					assert.NoError(t, err)
					return
				}
				assert.EqualError(t, err, tt.want)
			})
		})
	}
}
