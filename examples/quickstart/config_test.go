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
		DecodeSlowdown: number(t, "QUICKSTART_DECODE_SLOWDOWN", 1),
		Seed:           uint64(max(0, number(t, "QUICKSTART_SEED", 1))),
	}
}

func number(t *testing.T, name string, unset float64) float64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s must be a number, got %q", name, text)
	}
	return value
}
