//go:build unix

package server

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/openloop-go/openloop/engines/launch"
)

const attachesName = "SERVER_TEST_ATTACHES"

// A test that waits for a server says so at its own line.
func TestWaitingIsSaidAtTheUsersLine(t *testing.T) {
	if folder := os.Getenv(attachesName); folder != "" {
		t.Setenv("OPENLOOP_LOCKS", folder)
		Start(t, testKind(), launch.Config{URL: "http://127.0.0.1:8000"}) // the line
		return
	}
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	another(t, "http://127.0.0.1:8000")
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout="+(reserve+reserve/10).String())
	cmd.Env = append(os.Environ(), attachesName+"="+os.Getenv("OPENLOOP_LOCKS"))
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile("line_test.go")
	if err == nil || readErr != nil {
		t.Fatalf("%v, %v\n%s", err, readErr, out)
	}
	line := 1
	for _, b := range text[:regexp.MustCompile(`// the line`).FindIndex(text)[0]] {
		if b == '\n' {
			line++
		}
	}
	said := regexp.MustCompile(`(?m)^ +(\S+\.go:\d+): (vllm: waiting|attach vllm: waited)`).FindAllSubmatch(out, -1)
	want := "line_test.go:" + strconv.Itoa(line)
	if len(said) != 2 || string(said[0][1]) != want || string(said[1][1]) != want {
		t.Errorf("want two lines of %s, got\n%s", want, out)
	}
}
