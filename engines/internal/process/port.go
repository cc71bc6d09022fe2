package process

import (
	"fmt"
	"net"
	"sync"
)

var handedOut struct {
	sync.Mutex
	ports map[int]bool
}

// FreePort returns a TCP port that is free on 127.0.0.1 now and that this
// process has not handed out before, so that a server that takes long to bind
// is not given another's.
func FreePort() (int, error) {
	handedOut.Lock()
	defer handedOut.Unlock()
	if handedOut.ports == nil {
		handedOut.ports = map[int]bool{}
	}
	const tries = 100
	for range tries {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, fmt.Errorf("find a free port: %w", err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		if !handedOut.ports[port] {
			handedOut.ports[port] = true
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port: the system offered only ports already handed out, in %d tries", tries)
}
