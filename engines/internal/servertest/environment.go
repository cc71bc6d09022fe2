package servertest

import (
	"os"
	"path/filepath"
	"strings"
)

// Unset takes every OPENLOOP_ variable out of this process's environment, so
// that a developer's own do not lead the tests elsewhere. Locks are beside the
// test binary: stand-ins use no device, and the tests of other packages need not
// wait for them.
func Unset() {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OPENLOOP_") {
			_ = os.Unsetenv(name)
		}
	}
	if program, err := filepath.Abs(os.Args[0]); err == nil {
		_ = os.Setenv("OPENLOOP_LOCKS", filepath.Join(filepath.Dir(program), "locks"))
	}
}
