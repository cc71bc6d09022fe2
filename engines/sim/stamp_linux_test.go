package sim_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openloop-go/openloop/engines/sim"
)

// On the real clock the stamps are those that any process of the host can
// read.
func TestStampsAreOfTheHostsClock(t *testing.T) {
	now := func() int64 {
		var at unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
			t.Fatal(err)
		}
		return at.Nano()
	}
	m := sim.New(t, sim.Config{StampEvents: true, Profile: fast})
	last := now()
	got := events(t, m, "/v1/completions", completion)
	for i, e := range got {
		if e.sent == nil || *e.sent < last {
			t.Fatalf("event %d has %v, and %d had been", i, e.sent, last)
		}
		last = *e.sent
	}
	if after := now(); len(got) != 6 || last > after {
		t.Errorf("%d events, the last sent at %d, and it is %d", len(got), last, after)
	}
}
