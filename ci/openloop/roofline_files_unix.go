//go:build unix

package main

import "syscall"

// openFiles is how many descriptors this process may have; 0 is unknown.
func openFiles() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return int(min(uint64(r.Cur), 1<<30))
}
