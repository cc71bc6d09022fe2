package container

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// However the test binary ends, its container does not outlive it.
func TestNothingOutlivesTheTestBinary(t *testing.T) {
	prepare()
	slow := play(t, "stays", "-test.timeout=20s") // 15 s of it are kept for stopping
	for _, test := range []struct {
		name, part string
		signal     os.Signal
	}{
		{"kill -9", "stays", syscall.SIGKILL},
		{"kill -TERM", "stays", syscall.SIGTERM},
		{"kill -INT", "stays", os.Interrupt},
		{"a panic in a goroutine", "panics", nil},
		{"os.Exit", "exits", nil},
		{"a test that fails", "fails", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := play(t, test.part)
			if test.signal != nil {
				if err := b.cmd.Process.Signal(test.signal); err != nil {
					t.Fatal(err)
				}
			}
			b.gone(t)
		})
	}
	t.Run("the deadline", slow.gone)
}

// gone waits for the test binary's end, and fails the test when anything of it
// is left.
func (b *testBinary) gone(t *testing.T) {
	_ = b.cmd.Wait()
	for _, id := range b.containers {
		awaitRemoval(t, id)
	}
	unwatched(t, b.owner)
	if left := listed(t, b.owner); len(left) != 0 {
		t.Errorf("%d containers left", len(left))
	}
	if free(b.url) != real {
		t.Errorf("the port of %s: free %t", b.url, free(b.url))
	}
}

// unwatched returns when the owner's watchdog has ended, having done what it
// had to.
func unwatched(t *testing.T, o owner) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(watchdogs(t, o)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the watchdog is still there")
		}
	}
}

// free reports that nobody listens at a URL. Behind the fake daemon somebody
// does: its server is the test's.
func free(url string) bool {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err == nil {
		_ = conn.Close()
	}
	return err != nil
}

// Where the watchdog is killed as well, the next start removes what is left.
func TestNextStartRemovesWhatIsLeft(t *testing.T) {
	prepare()
	b := play(t, "stays")
	dogs := watchdogs(t, b.owner)
	if len(b.containers) != 1 || len(dogs) != 1 {
		t.Fatalf("containers %v, watchdogs %v", b.containers, dogs)
	}
	if removed, err := Reap(t.Context()); err != nil || len(listed(t, b.owner)) != 1 {
		t.Fatalf("Reap() = %v, %v while the owner lives", removed, err)
	}
	for _, pid := range []int{dogs[0], b.cmd.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = b.cmd.Wait()
	if still := listed(t, b.owner); len(still) != 1 {
		t.Fatalf("%d containers before the next start", len(still))
	}
	start(t, configuration(t))
	if still := listed(t, b.owner); len(still) != 0 {
		t.Errorf("%d containers after it", len(still))
	}
}
