package benchtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

// A server that repeats the key in its error does not put it into a log.
func TestNoSecretIsToldOrKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const key = "sk-0123456789"
		engine := struct {
			*script
			*describer
		}{quick(), &describer{engines.Identity{
			Command:  "serve --api-key " + key + " --port 8000 --max-num-batched-tokens 8192 HF_TOKEN=hf_abc",
			Settings: map[string]string{"api-key": "another", "max-num-batched-tokens": "8192"},
		}}}
		engine.fails = func(n int, r *engines.Request) error {
			if n%2 == 0 {
				return nil
			}
			return &engines.Error{Class: engines.Status, Status: 500, Message: "incorrect key: " + key}
		}
		var logs []string
		o := Options{Config: ci.Config{APIKey: key}, Dir: t.TempDir(), Test: "T", Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }}
		runs, err := Run(t.Context(), engine, usual(), o)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(o.Dir, "records", "T", "constant-10.jsonl"))
		require.NoError(t, err)
		for _, secret := range []string{key, "another", "hf_abc"} {
			assert.NotContains(t, string(text), secret)
			assert.NotContains(t, strings.Join(logs, "\n"), secret)
		}
		assert.Contains(t, string(text), "incorrect key: [redacted]")
		for _, p := range runs.Records[0].Identity {
			switch p.Key {
			case "command":
				assert.Equal(t, "serve --api-key [redacted] --port 8000 --max-num-batched-tokens 8192 HF_TOKEN=[redacted]", p.Value)
			case "setting-max-num-batched-tokens":
				assert.Equal(t, "8192", p.Value)
			}
		}
	})
	inBubble(t, func(t *testing.T) {
		engine := quick()
		engine.fails = func(int, *engines.Request) error {
			return &engines.Error{Class: engines.Unauthorized, Status: 401, Message: "incorrect key: sk-123"}
		}
		_, err := Run(t.Context(), engine, usual(), Options{Config: ci.Config{APIKey: "sk-123"}})
		assert.EqualError(t, err, "benchtest: the engine is not ready: one small generation: incorrect key: [redacted]")
	})
}

// keyed is an engine that was given a secret of its own.
type keyed struct {
	*script
	*describer
	key string
}

func (k keyed) Redact(text string) string { return strings.ReplaceAll(text, k.key, "[redacted]") }

// What the engine was given is kept out too, also where a server repeats it as
// its version; and a key that is a word of every record does not spoil them.
func TestTheEnginesOwnSecrets(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const secret = "a-gateway-value"
		engine := keyed{quick(), &describer{engines.Identity{Version: "1.2 (" + secret + ")", Settings: map[string]string{"port": "8000"}}}, secret}
		o := Options{Config: ci.Config{APIKey: "8000"}, Dir: t.TempDir(), Test: "T"}
		runs, err := Run(t.Context(), engine, usual(), o)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(o.Dir, "records", "T", "constant-10.jsonl"))
		require.NoError(t, err)
		assert.NotContains(t, string(text), secret)
		identity := map[string]string{}
		for _, p := range runs.Records[0].Identity {
			identity[p.Key] = p.Value
		}
		assert.Equal(t, "1.2 ([redacted])", identity["engine-version"])
		assert.Equal(t, "8000", identity["setting-port"])
	})
}
