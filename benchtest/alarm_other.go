//go:build !linux

package benchtest

import "time"

// alarm is a timer of the kernel's; here there is none, and package time paces
// alone.
type alarm struct{}

func newAlarm(time.Time) *alarm        { return nil }
func (*alarm) wait(time.Duration) bool { return false }
func (*alarm) close()                  {}
