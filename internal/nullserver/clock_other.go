//go:build !linux

package nullserver

import "time"

// Now is a clock in nanoseconds that is the same for all processes of a host:
// CLOCK_MONOTONIC on Linux, the wall clock elsewhere.
func Now() int64 { return time.Now().UnixNano() }

func sleepUntil(at int64) { time.Sleep(time.Duration(at - Now())) }

func sharpen() {}
