package openai

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/openloop-go/openloop/internal/descriptors"
)

// hostRoom is why this host cannot have n more connections to one address; nil
// when it can, as far as it says.
func hostRoom(n int) error {
	if err := descriptorRoom(fmt.Sprintf("%d more connections", n), n); err != nil {
		return err
	}
	if low, high, ok := localPorts(); ok && n > high-low+1 {
		return fmt.Errorf("%d more connections to one address need as many local ports, and %d to %d are %d (net.ipv4.ip_local_port_range): widen it, or open fewer",
			n, low, high, high-low+1)
	}
	return nil
}

// descriptorRoom is why this process cannot open n more descriptors, which what
// needs; nil when it can, as far as the system says.
func descriptorRoom(what string, n int) error {
	limit, open := descriptors.Own()
	if open == 0 {
		return nil
	}
	if lacks := (descriptors.Need{What: what, More: n, Open: open}).Beyond(limit); lacks != "" {
		return errors.New(lacks)
	}
	return nil
}

// localPorts is the range of ports for connections that go out, where the system
// says it, as Linux does.
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
		if limit := descriptors.Limit(); limit > 0 {
			return ", and " + descriptors.Limited(limit)
		}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		if low, high, ok := localPorts(); ok {
			return fmt.Sprintf(" (ports %d to %d are for connections that go out, and a closed one may keep its port for a minute: widen net.ipv4.ip_local_port_range, or open fewer)", low, high)
		}
	}
	return ""
}
