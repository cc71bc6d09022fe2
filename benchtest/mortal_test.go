package benchtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// mortal is a script that dies with the n-th request, counted from 0.
type mortal struct {
	*script
	dies  int
	death error
}

func (e *mortal) Death(context.Context) error {
	if e.reached() {
		return e.death
	}
	return nil
}

func (e *mortal) reached() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.seen) > e.dies
}

func newMortal(dies int) *mortal {
	e := &mortal{quick(), dies, errors.New("vllm: exited with code 7 after 2s, log in /tmp/l; its last lines:\n    out of memory")}
	e.fails = func(n int, _ *engines.Request) error {
		if n >= dies {
			return &engines.Error{Class: engines.Unreachable, Message: "connection refused"}
		}
		return nil
	}
	return e
}

const dead = "benchtest: the engine is dead, so nothing can be measured on it: vllm: exited with code 7 after 2s, log in /tmp/l; its last lines:\n    out of memory"

// An engine that is known to be dead is asked for nothing more, and each
// measurement says of what it died.
func TestAnEngineThatIsDead(t *testing.T) {
	for _, row := range []struct {
		name string
		dies int
		runs int
		want string
	}{
		{"while it gets ready", 0, 0, dead},
		{"in the warmup of the second run", 1 + 210, 1, "benchtest: run 2 of 3: in the warmup: " + dead},
		{"in the window of the second run", 1 + 200 + 50 + 120, 2, "benchtest: run 2 of 3: " + dead},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := newMortal(row.dies)
				p := usual()
				p.Runs = 3
				runs, err := Run(t.Context(), engine, p, Options{})
				require.EqualError(t, err, row.want)
				assert.Len(t, runs.Records, row.runs)
				asked, begun := len(engine.seen), time.Now()
				for range 2 { // later tests, with the engine that they share
					_, err := Run(t.Context(), engine, usual(), Options{})
					require.EqualError(t, err, dead)
				}
				assert.Len(t, engine.seen, asked)
				assert.Zero(t, time.Since(begun))
			})
		})
	}
}
