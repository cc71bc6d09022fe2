//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// process is the server in a process of its own.
type process struct {
	url     string
	journal string
	cmd     *exec.Cmd
	stdin   io.Closer
}

func startServer(self, journal string, rate float64, first time.Duration) (*process, error) {
	cmd := exec.Command(self, "serve", "-rate", number(rate), "-first", first.String(), "-journal", journal)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Process.Kill()
		return nil, fmt.Errorf("read the server's address: %w (%v)", err, cmd.Wait())
	}
	return &process{url: "http://" + strings.TrimSpace(address), journal: journal, cmd: cmd, stdin: in}, nil
}

// end stops the server and returns its journal.
func (p *process) end() ([]*request, error) {
	p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("end the server: %w", err)
	}
	defer os.Remove(p.journal) // 10 MB of a large load
	return readJournal(p.journal)
}

// loadAverage is what the kernel says of the last 1, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
