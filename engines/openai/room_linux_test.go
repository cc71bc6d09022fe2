package openai

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/descriptors"
)

// L09: a limit that is too low is found before a connection is opened.
func TestL09DescriptorsAreCountedBeforehand(t *testing.T) {
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	limit := int(min(was.Cur, 1<<30))
	e, err := New(Config{URL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	failure := requireClass(t, engines.Client, result{err: e.Warm(t.Context(), limit)})
	assert.Regexp(t, fmt.Sprintf(`^http://127.0.0.1:1: open connections: %d more connections need \d+ descriptors, with \d+ that are open and 32 for all else, `+
		`and the limit \(RLIMIT_NOFILE\) is %d: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile$`, limit, limit), failure.Message)
	assert.Zero(t, e.Connections())
}

func TestL08PortsAreCountedBeforehand(t *testing.T) {
	low, high, ok := localPorts()
	if !ok {
		t.Skip("this host does not say which ports are for connections that go out")
	}
	if descriptors.Limit() < high-low+100 {
		t.Skip("this host has fewer descriptors than ports")
	}
	assert.NoError(t, hostRoom(high-low+1))
	assert.EqualError(t, hostRoom(high-low+2), fmt.Sprintf("%d more connections to one address need as many local ports, and %d to %d are %d (net.ipv4.ip_local_port_range): widen it, or open fewer",
		high-low+2, low, high, high-low+1))
}

func TestWhatTheHostHasRunOutOf(t *testing.T) {
	low, high, _ := localPorts()
	for err, want := range map[error]string{
		syscall.EMFILE:        fmt.Sprintf(", and the limit (RLIMIT_NOFILE) is %d: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile", descriptors.Limit()),
		syscall.EADDRNOTAVAIL: fmt.Sprintf(" (ports %d to %d are for connections that go out, and a closed one may keep its port for a minute: widen net.ipv4.ip_local_port_range, or open fewer)", low, high),
		syscall.ENOBUFS:       "",
		os.ErrClosed:          "",
	} {
		assert.Equal(t, want, shortage(err))
	}
}
