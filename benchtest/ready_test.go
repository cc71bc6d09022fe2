package benchtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// A health route says yes at once; generating answers "loading" for 3 s, and
// then takes 2 s. Nothing is measured before that.
func TestReadyIsOneGeneration(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		started := time.Now()
		var answered time.Duration
		engine := quick()
		engine.fails = func(n int, r *engines.Request) error {
			if time.Since(started) < 3*time.Second {
				return &engines.Error{Class: engines.Refused, Status: 503, Message: "loading"}
			}
			if answered == 0 {
				time.Sleep(2 * time.Second)
				answered = time.Since(started)
			}
			return nil
		}
		var log []string
		runs, err := Run(t.Context(), engine, usual(), Options{Log: func(format string, args ...any) {
			log = append(log, fmt.Sprintf(format, args...))
		}})
		require.NoError(t, err)
		assert.Empty(t, runs.Records[0].Problems)
		assert.GreaterOrEqual(t, answered, 5*time.Second)
		for _, r := range engine.seen {
			if !strings.Contains(r.ID, "ready") {
				continue
			}
			assert.Equal(t, readyOutput, r.MaxTokens)
			assert.True(t, r.Stamp() >= answered, "asked before the engine was ready")
			break
		}
		assert.Equal(t, []string{"benchtest: waiting for the engine: loading"}, log)
	})
}

func TestAnEngineThatIsNotReady(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a key is missing", &engines.Error{Class: engines.Unauthorized, Status: 401, Message: "POST /v1/completions: 401: no key"},
			"benchtest: the engine is not ready: one small generation: POST /v1/completions: 401: no key"},
		{"another kind of error", errors.New("odd"),
			"benchtest: the engine is not ready: one small generation: odd"},
		{"no such host", &engines.Error{Class: engines.Unreachable, Message: `host "engnie" not found: correct the URL`,
			Err: &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "engnie", IsNotFound: true}}},
			`benchtest: the engine is not ready: one small generation: host "engnie" not found: correct the URL`},
		{"a name server that does not answer may do so later", &engines.Error{Class: engines.Unreachable, Message: "looked up in vain",
			Err: &net.DNSError{Err: "server misbehaving", Name: "engine", IsTemporary: true}},
			"benchtest: the engine was not ready after 5m0s and 147 tries (the limit is 5m0s): looked up in vain"},
		{"loading for ever", &engines.Error{Class: engines.Unreachable, Message: "connection refused"},
			"benchtest: the engine was not ready after 5m0s and 147 tries (the limit is 5m0s): connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := quick()
				engine.fails = func(int, *engines.Request) error { return c.err }
				runs, err := Run(t.Context(), engine, usual(), Options{})
				assert.EqualError(t, err, c.want)
				assert.Empty(t, runs.Records)
			})
		})
	}
}

// A server that accepts the request and never says more. On a real clock that is
// told while it is waited for.
func TestAnEngineThatHangsIsNotReady(t *testing.T) {
	const want = "benchtest: the engine was not ready after 5m0s and 1 try (the limit is 5m0s): one small generation had not ended, 0 token events had come: the engine hangs, or something between here and there does: look into its log, or start it again"
	for _, row := range []struct {
		name   string
		engine engines.Engine
		told   []string // the first lines
		lines  int
	}{
		{"in virtual time", &script{first: time.Hour}, nil, 0},
		{"on a real clock", real{&script{first: time.Hour}}, []string{
			"benchtest: waiting for the engine: one small generation has not ended after 1s; 4m59s more at most",
			"benchtest: waiting for the engine: one small generation has not ended after 31s; 4m29s more at most",
		}, 10},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var log []string
				runs, err := Run(t.Context(), row.engine, usual(), Options{Log: func(format string, args ...any) {
					if line := fmt.Sprintf(format, args...); strings.Contains(line, "waiting") {
						log = append(log, line)
					}
				}})
				assert.EqualError(t, err, want)
				assert.Empty(t, runs.Records)
				require.Len(t, log, row.lines)
				assert.Equal(t, row.told, log[:len(row.told):len(row.told)])
			})
		})
	}
}

func TestTheModelThatAnswersIsTheOneMeant(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*describer
		}{quick(), &describer{engines.Identity{Model: "llama"}}}
		_, err := Run(t.Context(), engine, usual(), Options{})
		assert.EqualError(t, err, `benchtest: model "model" answered, and the engine says that it serves "llama": is this the server you mean?`)
	})
	inBubble(t, func(t *testing.T) {
		engine := quick()
		engine.reply = func(n int, r *engines.Reply) {
			if n == 120 {
				r.Model = "other"
			}
		}
		r := one(t, engine, usual())
		require.Equal(t, []string{kindWrongModel}, kinds(r))
		assert.Equal(t, "1 of 100 requests were answered by another model: attach to a server that serves only the one", r.Problems[0].Text)
	})
}

// What is told is the time that is left, which may be less than the limit.
func TestAnEngineThatHangsWithLittleTimeLeft(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var log []string
		_, err := Run(ctx, real{&script{first: time.Hour}}, usual(), Options{Log: func(format string, args ...any) {
			if line := fmt.Sprintf(format, args...); strings.Contains(line, "waiting") {
				log = append(log, line)
			}
		}})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, []string{"benchtest: waiting for the engine: one small generation has not ended after 1s; 19s more at most"}, log)
	})
}
