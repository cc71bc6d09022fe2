package openai

import "time"

// cpuTime is the CPU time of this process so far: not asked for on this system.
func cpuTime() (time.Duration, bool) { return 0, false }

func threadTime() (time.Duration, bool) { return 0, false }
