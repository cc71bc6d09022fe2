package benchtest

import (
	"bytes"
	"os"
	"strconv"
)

// hostTime is the CPU time of the host so far, in ticks of all its CPUs: what
// was busy, and all of it; 0, 0 is unknown.
//
// The fields of /proc/stat's first line are user, nice, system, idle, iowait,
// irq, softirq and steal; guest time, which follows, is in user already. What
// a hypervisor stole was not to be had, and so it counts as busy.
func hostTime() (busy, all uint64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	return hostTicks(text)
}

func hostTicks(stat []byte) (busy, all uint64) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0, 0
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseUint(string(f), 10, 64)
		if err != nil {
			return 0, 0
		}
		all += n
		if idle := i == 3 || i == 4; !idle {
			busy += n
		}
	}
	return busy, all
}
