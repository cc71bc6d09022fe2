//go:build linux || darwin

package descriptors

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

// The limit of a process is the one that a shell has set or that it has lowered
// itself, and what it has open is counted.
func TestDescriptorsOfAProcess(t *testing.T) {
	const child = "OPENLOOP_TEST_DESCRIPTORS"
	if os.Getenv(child) != "" {
		var files []*os.File
		for range 3 {
			f, err := os.Open(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files = append(files, f)
		}
		limit, many := Own()
		files[0].Close()
		_, fewer := Own()
		fmt.Println("limit:", limit, "less:", many-fewer, "open:", many)
		lowered := syscall.Rlimit{Cur: 50, Max: 64}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lowered); err != nil {
			t.Fatal(err)
		}
		for fd, err := 0, error(nil); err == nil; {
			fd, err = syscall.Dup(fd)
		}
		fmt.Println(Own())
		return
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" -test.run '^TestDescriptorsOfAProcess$'`, os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	want := regexp.MustCompile(`(?m)^limit: 64 less: 1 open: [1-9]\d?\n50 50$`)
	if err != nil || !want.Match(out) {
		t.Errorf("got %v\n%s\nwant %s", err, out, want)
	}
}
