package quickstart

import (
	"os"
	"strconv"
	"testing"

	"github.com/openloop-go/openloop/engines/sim"
)

// config is the embedded engine that the tests measure: Llama-3-8B on an
// H100, with the slowdown and the noise that the environment asks for.
func config(t *testing.T) sim.Config {
	t.Helper()
	return sim.Config{
		DevMode:        true, // so that the prefix cache can be flushed
		DecodeSlowdown: variable(t, "QUICKSTART_DECODE_SLOWDOWN", 1, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }),
		Seed:           variable(t, "QUICKSTART_SEED", 1, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }),
	}
}

// variable is an environment variable's number, or unset where it is not set.
func variable[N any](t *testing.T, name string, unset N, parse func(string) (N, error)) N {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	value, err := parse(text)
	if err != nil {
		t.Fatalf("%s must be a number, as in %v, got %q", name, unset, text)
	}
	return value
}
