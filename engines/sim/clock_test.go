package sim_test

import (
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/sim"
)

// An engine in memory that runs on the real clock must not pass for a virtual
// one: nobody would judge the client's lag, or let one measurement at a time
// have it.
func TestTimeIsVirtualInBubblesOnly(t *testing.T) {
	if sim.New(t, sim.Config{}).VirtualTime() {
		t.Error("outside of a bubble time is virtual")
	}
	synctest.Test(t, func(t *testing.T) {
		if !sim.New(t, sim.Config{}).VirtualTime() {
			t.Error("in a bubble time is real")
		}
	})
}
