package openai

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Connections that this side closes are no habit of the server's.
func TestCloseIsNoHabitOfTheServer(t *testing.T) {
	plain := httptest.NewServer(streaming)
	defer plain.Close()
	secure, trust := overTLS(t, streaming, nil)
	for name, cfg := range map[string]Config{"plain": {URL: plain.URL}, "TLS": {URL: secure, TLS: trust}} {
		t.Run(name, func(t *testing.T) {
			e, err := New(cfg)
			require.NoError(t, err)
			for range 20 {
				require.NoError(t, generate(t, e).err)
				require.NoError(t, e.Close())
				require.NoError(t, generate(t, e).err)
				again := generate(t, e)
				require.NoError(t, again.err)
				require.False(t, again.reply.NewConnection, "connections are kept")
			}
			assert.False(t, e.transport.habit.closes.Load())
		})
	}
}
