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

// runFloor runs a floor on the server at url. One that does not read all events
// is none: its CPU time is of less.
func runFloor(program, url string, streams, events int) (outcome, error) {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		return outcome{}, err
	}
	o, err := run(exec.Command(program, host, port, strconv.Itoa(streams), "/events"))
	if err == nil && o.events != events {
		err = fmt.Errorf("the floor %s read %d events of %d", program, o.events, events)
	}
	return o, err
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
