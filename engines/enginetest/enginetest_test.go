package enginetest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/enginetest"
)

// bare hides all abilities.
type bare struct{ engines.Engine }

// uncounted is an engine whose server counts nothing.
func uncounted() *fake {
	f := newFake()
	f.chunk = func(_ int, c *engines.Chunk) { c.Tokens = engines.Count{} }
	f.end = func(_ *engines.Request, reply *engines.Reply, _ *error) {
		reply.PromptTokens, reply.OutputTokens, reply.CachedTokens = engines.Count{}, engines.Count{}, engines.Count{}
	}
	f.outcome = func(o engines.Outcome, done func(engines.Outcome)) { done(o) }
	return f
}

// unsalted is the end of a generation that may carry no cache salt.
func unsalted(r *engines.Request, _ *engines.Reply, err *error) {
	if r.CacheSalt != "" {
		*err = &engines.Error{Class: engines.Status, Status: 400}
	}
}

func TestEnginesThatKeepTheContract(t *testing.T) {
	early := newFake()
	early.end = func(r *engines.Request, reply *engines.Reply, err *error) {}
	unloaded := newFake()
	unloaded.loaded = func(l *engines.Load, _ *error) { *l = engines.Load{} }
	unflushed := newFake()
	unflushed.flushed = func(_ *fake, out *engines.Flush, _ *error) {
		*out = engines.Flush{Outcome: engines.FlushUnsupported, Detail: "404", Remedy: "start it otherwise"}
	}
	saltless := newFake()
	saltless.end = unsalted
	saltless.flushed = func(_ *fake, out *engines.Flush, _ *error) {
		*out = engines.Flush{Outcome: engines.FlushUnsupported, Detail: "404", Remedy: "start it otherwise", Saltless: true}
	}
	for what, tt := range map[string]struct {
		engine engines.Engine
		o      enginetest.Options
	}{
		"with every ability":            {newFake(), enginetest.Options{Restart: true}},
		"with none":                     {bare{newFake()}, enginetest.Options{}},
		"that knows no counts":          {uncounted(), enginetest.Options{}},
		"prompted with text":            {newFake(), enginetest.Options{Text: true}},
		"that does not know its load":   {unloaded, enginetest.Options{}},
		"that cannot be flushed":        {unflushed, enginetest.Options{}},
		"that takes no cache salt":      {saltless, enginetest.Options{}},
		"asked for one token at a time": {newFake(), enginetest.Options{Output: 1, Concurrent: 2}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				assert.NoError(t, enginetest.Test(t.Context(), tt.engine, tt.o))
			})
		})
	}
}

// breach is an engine that keeps the contract but for one thing.
type breach struct {
	what  string
	spoil func(*fake)
	want  string // one of the findings
	rules string // the rules that are found broken
}

// find runs the suite against each of the engines.
func find(t *testing.T, breaches []breach) {
	for _, tt := range breaches {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				tt.spoil(f)
				err := enginetest.Test(t.Context(), f, enginetest.Options{Restart: true})
				time.Sleep(time.Hour) // what is still running ends
				if !assert.Error(t, err) {
					return
				}
				lines := strings.Split(err.Error(), "\n")
				assert.Contains(t, lines, tt.want)
				for _, line := range lines {
					rule, _, _ := strings.Cut(line, ": ")
					assert.Contains(t, strings.Split(tt.rules, "|"), rule, line)
				}
			})
		})
	}
}
