//go:build !docker

package container

import (
	"os"
	"strings"
	"testing"
)

// A container that dies just before its test ends has died by itself, and its
// last words are not removed with it.
func TestContainerThatDiesJustBeforeItsTestEnds(t *testing.T) {
	fake.reset(behaviour{prints: "serving\n", last: "GGML_ASSERT failed\n"})
	cfg := configuration(t)
	e := start(t, cfg)
	fake.mu.Lock()
	var c *fakeContainer
	for _, c = range fake.containers {
	}
	fake.mu.Unlock()
	fake.end(c, 139, false)
	err := e.Close(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "vllm: container exited with code 139 after ") ||
		!strings.HasSuffix(err.Error(), "its last lines:\n    serving\n    GGML_ASSERT failed") {
		t.Errorf("got %v", err)
	}
	if left := listed(t, owner{}); len(left) != 0 {
		t.Errorf("%d containers left", len(left))
	}

	// One that is stopped has its last words in the log, too.
	fake.reset(behaviour{last: "bye\n"})
	cfg = configuration(t)
	if err := start(t, cfg).Close(t.Context()); err != nil {
		t.Error(err)
	}
	if log, err := os.ReadFile(cfg.LogFile); err != nil || !strings.HasSuffix(string(log), "bye\n") {
		t.Errorf("%v: %q", err, log)
	}
}
