//go:build sglang && !windows

package sglang_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines/internal/shape"
	"github.com/openloop-go/openloop/engines/sim"
)

// realShape: the embedded engine's streams have the fields of the real server's,
// in their order.
func realShape(t *testing.T, url, model string) {
	server, err := sim.NewServer(sim.Config{Flavor: sim.SGLang, Model: model})
	require.NoError(t, err)
	defer server.Close()
	embedded := httptest.NewServer(server.Handler())
	defer embedded.Close()
	for _, ask := range shape.Asks {
		want, err := shape.Ask(url, model, ask.Path, ask.Fields)
		require.NoError(t, err, ask.Name)
		got, err := shape.Ask(embedded.URL, model, ask.Path, ask.Fields)
		require.NoError(t, err, ask.Name)
		assert.Equal(t, want, got, ask.Name)
	}
}
