package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// startNull starts the server in a process of its own, of this binary.
func startNull(ctx context.Context) (url string, end func(), err error) {
	self, err := ownBinary()
	if err != nil {
		return "", nil, fmt.Errorf("start the server: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "roofline", "-serve")
	cmd.WaitDelay = time.Second
	var said strings.Builder
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, fmt.Errorf("start the server: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, fmt.Errorf("start the server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start the server: %w", err)
	}
	end = func() {
		stdin.Close()
		_ = cmd.Wait() // how it ends is its own affair now
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		end()
		return "", nil, fmt.Errorf("start the server: %s -serve said %q%s", self, line, said.String())
	}
	return url, end, nil
}

// ownBinary is the path of this program. A link to it under another name is
// taken by that name, since a test binary is more than one program.
func ownBinary() (string, error) {
	self, err := os.Executable()
	if err == nil && filepath.Base(self) == filepath.Base(os.Args[0]) {
		return self, nil
	}
	return exec.LookPath(os.Args[0])
}
