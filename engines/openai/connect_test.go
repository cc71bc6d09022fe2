package openai

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A connection that is there is not waited for: what taking it takes is this
// side's, be it on a busy host, and no wait for the server.
func TestAConnectionThatIsThereIsNoWait(t *testing.T) {
	plain := httptest.NewServer(streaming)
	defer plain.Close()
	secure, trust := overTLS(t, streaming, nil)
	for name, cfg := range map[string]Config{
		"plain": {URL: plain.URL}, "TLS": {URL: secure, TLS: trust},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := New(cfg)
			require.NoError(t, err)
			defer e.Close()
			first := generate(t, e)
			require.NoError(t, first.err)
			assert.Positive(t, first.reply.Connect, "it was opened for the request")
			for range 3 {
				got := generate(t, e)
				require.NoError(t, got.err)
				assert.False(t, got.reply.NewConnection)
				assert.Zero(t, got.reply.Connect)
				assert.Positive(t, got.reply.Sent)
			}

			e, err = New(cfg)
			require.NoError(t, err)
			defer e.Close()
			require.NoError(t, e.Warm(t.Context(), 1))
			got := generate(t, e)
			require.NoError(t, got.err)
			assert.False(t, got.reply.NewConnection)
			assert.Zero(t, got.reply.Connect, "it was opened before")
		})
	}
}

// net/http gives a request that waits for a connection the first that becomes
// idle: it is not new, and it was waited for.
func TestTheWaitForTheConnectionOfAnotherIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		go (&http.Server{Handler: script{steps: []step{{at: 300 * time.Millisecond, send: completion("a") + ended}}}}).Serve(m)
		defer m.Close()
		e, err := New(Config{URL: "http://engine", Dial: slowly(m.dial, time.Second)})
		require.NoError(t, err)
		defer e.Close()
		e.direct = nil // which opens one for each that finds none
		require.NoError(t, generate(t, e).err)
		var both sync.WaitGroup
		both.Go(func() {
			got := generate(t, e)
			assert.NoError(t, got.err)
			assert.Zero(t, got.reply.Connect)
		})
		both.Go(func() {
			time.Sleep(100 * time.Millisecond)
			got := generate(t, e)
			assert.NoError(t, got.err)
			assert.False(t, got.reply.NewConnection)
			assert.Equal(t, 200*time.Millisecond, got.reply.Connect)
		})
		both.Wait()
		time.Sleep(time.Second) // until the connection is open that nobody needed
	})
}
