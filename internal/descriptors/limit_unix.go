//go:build unix

package descriptors

import "syscall"

// Limit is how many descriptors this process may have open; 0 is unknown. The Go
// runtime has raised the soft limit to the hard one when the program started, and
// gives children the one that there was; who sets it anew takes that from them,
// so it is only read.
func Limit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return int(min(uint64(r.Cur), 1<<30))
}
