//go:build linux

package openai

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// fewName makes this binary one that calibrates and says what came of it, or one
// that has no descriptor left and says what it lacks.
const fewName = "OPENLOOP_TEST_CALIBRATE"

func init() {
	switch os.Getenv(fewName) {
	case "":
		return
	case "full":
		for fd, err := 0, error(nil); err == nil; {
			fd, err = syscall.Dup(fd)
		}
		fmt.Println(descriptorRoom("5 more", 5))
	default:
		began := time.Now()
		_, err := (&Engine{}).Calibrate(context.Background())
		fmt.Printf("%t %s %v\n", time.Since(began) < calibrateLimit/2, result{err: err}.class(), err)
	}
	os.Exit(0)
}

// A limit that is too low is named at once, with the need and the remedy; one
// that is only set low is raised.
func TestCalibrateWithFewDescriptors(t *testing.T) {
	for _, tt := range []struct{ what, limit, role, want string }{
		{"a hard limit", "ulimit -n 100", "calibrate",
			`^true client calibrate the client: 64 streams to a server of this process need \d+ descriptors, with \d+ that are open and 32 for all else, ` +
				`and the limit \(RLIMIT_NOFILE\) is 100: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile\n$`},
		{"a soft limit", "ulimit -S -n 40", "calibrate", `^\w+  <nil>\n$`},
		{"no descriptor left", "ulimit -n 40", "full",
			`^5 more need 77 descriptors, with 40 that are open and 32 for all else, and the limit \(RLIMIT_NOFILE\) is 40: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile\n$`},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.limit+` && exec "$0"`, os.Args[0])
		cmd.Env = append(os.Environ(), fewName+"="+tt.role)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", tt.what, out)
		assert.Regexp(t, tt.want, string(out), tt.what)
	}
}

// full is a listener whose process can take no connection.
type full struct{ net.Listener }

func (l full) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}

// A server that runs out of descriptors meanwhile does not let its clients wait.
func TestCalibrateThatRunsOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	began := time.Now()
	_, err = calibrateAt(t.Context(), full{l})
	assert.Less(t, time.Since(began), calibrateLimit/2)
	failure := requireClass(t, engines.Client, result{err: err})
	assert.Equal(t, "accept tcp: accept4: too many open files: this host has run out of it, not the server"+shortage(syscall.EMFILE), failure.Message)
}
