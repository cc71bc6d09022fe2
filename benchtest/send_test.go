package benchtest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Slots that become free at once, on a real clock, do so in order: requests are
// due when theirs does, and a record has them in order.
func TestSlotsBecomeFreeInOrder(t *testing.T) {
	const slots = 64
	for range 200 {
		p := newPass(load{inFlight: slots}, quick(), false, nil)
		var all sync.WaitGroup
		for i := range slots {
			all.Go(func() { p.finish(&flight{index: i}) })
		}
		all.Wait()
		p.close()
		last := time.Duration(0)
		for range slots {
			at := (<-p.freed).at
			if !assert.GreaterOrEqual(t, at, last) {
				return
			}
			last = at
		}
	}
}
