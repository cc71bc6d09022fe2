//go:build linux && (amd64 || arm64)

package openai

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// scarceURL is the server of a run that has few descriptors.
const scarceURL = "OPENLOOP_TEST_SCARCE_URL"

// A host that runs out of descriptors, at whatever step of opening a
// connection, is told so, and gets back those that were taken. It is tried in
// a process of its own.
func TestAHostWithoutDescriptors(t *testing.T) {
	if url := os.Getenv(scarceURL); url != "" {
		withoutDescriptors(t, url)
		return
	}
	server := httptest.NewServer(streaming)
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), scarceURL+"="+server.URL)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "--- PASS: "+t.Name())
}

func withoutDescriptors(t *testing.T, url string) {
	asked := func() error {
		e, err := New(Config{URL: url})
		require.NoError(t, err)
		e.direct = directOver(e, 1)
		defer e.Close()
		return generate(t, e).err
	}
	require.NoError(t, asked()) // the program has what it keeps
	const limit = 128
	open := func() (n int) {
		for fd := range limit {
			if _, _, no := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); no == 0 {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { before := open(); time.Sleep(20 * time.Millisecond); return before == open() }, 10*time.Second, time.Millisecond)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit}))
	before := open()
	for left := 0; ; left++ {
		require.Less(t, left, 20, "a generation needs a few descriptors")
		var taken []int
		for range limit - before - left {
			fd, err := syscall.Dup(0)
			require.NoError(t, err)
			taken = append(taken, fd)
		}
		err := asked()
		for _, fd := range taken {
			syscall.Close(fd)
		}
		assert.Eventually(t, func() bool { return open() == before }, 10*time.Second, time.Millisecond,
			fmt.Sprintf("%d descriptors left: all are given back", left))
		if err == nil {
			assert.Greater(t, left, 4, "socket, copy, two epolls and a timer")
			return
		}
		failure := requireClass(t, engines.Client, result{err: err})
		assert.ErrorIs(t, failure, syscall.EMFILE)
		assert.Contains(t, failure.Message, "this host has run out of it, not the server, and the limit (RLIMIT_NOFILE) is 128: raise it")
	}
}
