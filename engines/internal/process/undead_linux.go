package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// exiting is the flag of a process on its way out (PF_EXITING, from the kernel's
// sched.h): it is set before its connections are closed.
const exiting = 0x4

// untold is false: /proc tells of an end before the child is reaped.
const untold = false

// undead reports that a child has ended or is ending, reaped or not, by the
// fields of /proc/PID/stat behind its name, which is in parentheses: the
// first is its state, Z or for a moment X, and the seventh its flags.
func undead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil { // it has just been reaped, unless one may not look
		return syscall.Kill(pid, 0) == syscall.ESRCH
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(string(fields[6]), 10, 64)
	return fields[0][0] == 'Z' || fields[0][0] == 'X' || err == nil && flags&exiting != 0
}
