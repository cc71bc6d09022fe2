package servertest

import (
	"os"
	"strings"
)

// Unset takes every OPENLOOP_ variable out of this process's environment, so
// that a developer's own do not lead the tests elsewhere.
func Unset() {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OPENLOOP_") {
			_ = os.Unsetenv(name)
		}
	}
}
