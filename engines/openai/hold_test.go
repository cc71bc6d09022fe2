package openai_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines/openai"
)

// Two clients of one server are one engine to those who measure; the key in
// its URL is no part of its name, and a server in memory has no other users.
// (Addresses are not looked up.)
func TestHold(t *testing.T) {
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	client := func(cfg openai.Config) *openai.Engine {
		e, err := openai.New(cfg)
		require.NoError(t, err)
		return e
	}
	one := client(openai.Config{URL: "http://user:sesame@192.0.2.7:8000/v1"})
	other := client(openai.Config{URL: "http://192.0.2.7:8000"})
	elsewhere := client(openai.Config{URL: "http://192.0.2.8:8000"})
	memory := client(openai.Config{URL: "http://192.0.2.7:8000", Dial: func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }})

	release, err := one.Hold(t.Context(), "TestA", nil)
	require.NoError(t, err)
	for _, e := range []*openai.Engine{elsewhere, memory} {
		free, err := e.Hold(t.Context(), "TestB", nil)
		require.NoError(t, err)
		assert.NoError(t, free())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = other.Hold(ctx, "TestB", t.Logf)
	assert.EqualError(t, err, "waited 0s for http://192.0.2.7:8000, which TestA of this process measures: context deadline exceeded; "+
		"give the tests more time, or run one after the other (go test -p 1, without t.Parallel)")
	require.NoError(t, release())
	free, err := other.Hold(t.Context(), "TestB", nil)
	require.NoError(t, err)
	assert.NoError(t, free())
}

func TestHoldReadsTheConfiguration(t *testing.T) {
	t.Setenv("OPENLOOP_RUNS", "many")
	e, err := openai.New(openai.Config{URL: "http://gpu-7:8000"})
	require.NoError(t, err)
	_, err = e.Hold(t.Context(), "TestA", nil)
	assert.EqualError(t, err, `ci: OPENLOOP_RUNS is "many": must be a whole number, 0 or more`)
}
