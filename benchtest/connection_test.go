package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
)

// Connections cost nothing in virtual time, and which one is new depends on
// the order of goroutines at one instant: records of one seed must not.
func TestNoConnectionsInVirtualTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &script{first: time.Millisecond, reply: func(_ int, r *engines.Reply) { r.NewConnection = true }}
		for _, q := range one(t, engine, usual()).Requests {
			assert.False(t, q.NewConnection)
		}
	})
}
