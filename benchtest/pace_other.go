//go:build !linux

package benchtest

import "time"

// nap sleeps for a short time.
func nap(d time.Duration) { time.Sleep(d) }
