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
	serve func(r *engines.Request)
}

func (p *preparing) Prepare(r *engines.Request) { p.ready(r) }

func (p *preparing) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	if r.Prepared != nil {
		p.serve(r)
	}
	return p.fake.Generate(ctx, r, emit)
}

func TestRequestsThatArePrepared(t *testing.T) {
	note := func(r *engines.Request) { r.Prepared = r.MaxTokens }
	take := func(r *engines.Request) { r.Prepared = nil }
	for what, tt := range map[string]struct {
		ready, serve func(r *engines.Request)
		want         string
	}{
		"as it should be":           {note, take, ""},
		"nothing is prepared":       {func(*engines.Request) {}, take, ""},
		"what was prepared is left": {note, func(*engines.Request) {}, "prepare: enginetest-000028: Generate left Request.Prepared, a int, where it was"},
		"what is wrong is served":   {func(r *engines.Request) { note(r); r.MaxTokens = 16 }, take, "prepare: enginetest-000029: a prepared request for 16 tokens must fail"},
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
