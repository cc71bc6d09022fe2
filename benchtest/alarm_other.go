//go:build !linux

package benchtest

import "time"

// alarm is a timer of the kernel's; here there is none, and package time paces
// alone.
type alarm struct{}

func newAlarm(time.Time) *alarm        { return nil }
func (*alarm) wait(time.Duration) bool { return false }
func (*alarm) close()                  {}

// onRealClock reports that package time is the host's at that instant, and not
// that of a bubble, which begins with the year 2000.
func onRealClock(instant time.Time) bool {
	return instant.After(virtualOrigin.AddDate(10, 0, 0))
}
