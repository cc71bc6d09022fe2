//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome is what a client's process did.
type outcome struct {
	events int
	cpu    time.Duration
	said   string
}

// perEvent is CPU time in microseconds.
func (o outcome) perEvent() float64 {
	return o.cpu.Seconds() * 1e6 / float64(o.events)
}

// runReader runs a "eventcost read" on the server at url.
func runReader(url string, args ...string) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	return run(exec.Command(self, append([]string{"read", "-url", url}, args...)...))
}

// runFloor runs a floor on the server at url.
func runFloor(program, url string, streams int) (outcome, error) {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		return outcome{}, err
	}
	return run(exec.Command(program, host, port, strconv.Itoa(streams), "/events"))
}

var eventsLine = regexp.MustCompile(`(?m)^events +(\d+)`)

func run(cmd *exec.Cmd) (o outcome, err error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return o, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out.Bytes())
	}
	o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	o.said = out.String()
	m := eventsLine.FindStringSubmatch(o.said)
	if m == nil {
		return o, fmt.Errorf("%s: it printed no line \"events N\"", cmd.Path)
	}
	o.events, err = strconv.Atoi(m[1])
	return o, err
}

// hostBusy returns a function that tells which share of the host's CPU time
// was busy since.
func hostBusy() func() float64 {
	read := func() (busy, all float64) {
		b, _ := os.ReadFile("/proc/stat")
		first, _, _ := strings.Cut(string(b), "\n")
		for i, f := range strings.Fields(first)[1:] {
			n, _ := strconv.ParseFloat(f, 64)
			if i >= 8 {
				break // guest time is in user time
			}
			all += n
			if i != 3 && i != 4 {
				busy += n
			}
		}
		return busy, all
	}
	busy0, all0 := read()
	return func() float64 {
		busy, all := read()
		return (busy - busy0) / max(all-all0, 1)
	}
}
