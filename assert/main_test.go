package assert_test

import (
	"os"
	"strings"
	"testing"
)

// TestMain takes the tests out of the environment they run in: what they
// expect is what a developer sees, whichever continuous-integration system
// runs them.
func TestMain(m *testing.M) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case strings.HasPrefix(name, "OPENLOOP_"), strings.Contains(name, "CI"), strings.Contains(name, "BUILD"),
			strings.HasPrefix(name, "GITHUB_"), strings.HasSuffix(name, "_ACTIONS"), strings.HasPrefix(name, "JENKINS"):
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}
