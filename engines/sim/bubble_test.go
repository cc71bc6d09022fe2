package sim_test

import (
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/sim"
)

// inBubble runs f with an engine in virtual time.
func inBubble(t *testing.T, cfg sim.Config, f func(t *testing.T, m *sim.Memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, sim.New(t, cfg)) })
}
