//go:build linux || darwin

package benchtest

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

// The limit of a process that a shell has set is what is refused by.
func TestDescriptorsOfAProcess(t *testing.T) {
	const child = "BENCHTEST_DESCRIPTORS"
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
		_, many := descriptors()
		files[0].Close()
		_, fewer := descriptors()
		fmt.Println("one less:", many-fewer, lacking(100))
		lowered := syscall.Rlimit{Cur: 50, Max: 64}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lowered); err != nil {
			t.Fatal(err)
		}
		limit, _ := descriptors()
		fmt.Println("lowered:", limit)
		return
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" -test.run '^TestDescriptorsOfAProcess$'`, os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	want := regexp.MustCompile(`(?m)^one less: 1 100 connections need 1[34]\d descriptors, with \d+ that are open and 32 for all else, and the limit \(RLIMIT_NOFILE\) is 64: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile\nlowered: 50$`)
	if err != nil || !want.Match(out) {
		t.Errorf("got %v\n%s\nwant %s", err, out, want)
	}
}
