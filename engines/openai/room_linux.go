package openai

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// spare is how many descriptors are left to the rest of the program.
const spare = 32

// hostRoom is why this host cannot have n more connections to one address; nil
// when it can, as far as it says.
func hostRoom(n int) error {
	if err := descriptorRoom(fmt.Sprintf("%d more connections", n), n); err != nil {
		return err
	}
	if low, high, ok := localPorts(); ok && n > high-low+1 {
		return fmt.Errorf("%d more connections to one address need as many local ports, and %d to %d are %d (net.ipv4.ip_local_port_range)",
			n, low, high, high-low+1)
	}
	return nil
}

// descriptorRoom is why this process cannot open n more descriptors, which what
// needs; nil when it can, as far as the system says.
func descriptorRoom(what string, n int) error {
	const raise = "raise it with ulimit -n, as LimitNOFILE or --ulimit nofile"
	limit := descriptorLimit()
	if limit == 0 {
		return nil
	}
	open, err := os.ReadDir("/proc/self/fd")
	switch {
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%s need %d descriptors, and all that the limit (RLIMIT_NOFILE) allows, %d, are open: %s", what, n, limit, raise)
	case err == nil && len(open)+n+spare > limit:
		return fmt.Errorf("%s need %d descriptors with the %d that are open, and the limit (RLIMIT_NOFILE) is %d: %s",
			what, len(open)+n+spare, len(open), limit, raise)
	}
	return nil
}

// descriptorLimit is how many descriptors may be open; 0 is unknown. The Go
// runtime has raised the soft limit to the hard one when the program started, and
// gives children the one that there was; who sets it anew takes that from them,
// so it is only read.
func descriptorLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return int(min(r.Cur, 1<<30))
}

// localPorts is the range of ports for connections that go out.
func localPorts() (low, high int, ok bool) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, 0, false
	}
	n, err := fmt.Sscan(strings.TrimSpace(string(b)), &low, &high)
	return low, high, err == nil && n == 2
}

// shortage says in numbers what this host has run out of; empty when it does
// not know.
func shortage(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		// How many are open cannot be counted without one more.
		if limit := descriptorLimit(); limit > 0 {
			return fmt.Sprintf(" (RLIMIT_NOFILE is %d: raise it with ulimit -n)", limit)
		}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		if low, high, ok := localPorts(); ok {
			return fmt.Sprintf(" (ports %d to %d are for connections that go out, and a closed one may keep its port for a minute: widen net.ipv4.ip_local_port_range, or open fewer)", low, high)
		}
	}
	return ""
}
