//go:build !linux

package container

import (
	"errors"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/process"
)

// describe names the boot by nothing: the time at which a process started is
// one of day here, which no later boot has again.
func describe(pid int) owner {
	o := owner{pid: pid}
	if id, err := host.HostID(); err == nil {
		o.machine = strings.ReplaceAll(id, "/", "")
	}
	if p, err := process.NewProcess(int32(pid)); err == nil {
		if at, err := p.CreateTime(); err == nil {
			o.started = strconv.FormatInt(at, 10)
		}
	}
	return o
}

func look(o owner) fate {
	p, err := process.NewProcess(int32(o.pid))
	if errors.Is(err, process.ErrorProcessNotRunning) {
		return died
	}
	if err != nil {
		return unknown
	}
	at, err := p.CreateTime()
	switch {
	case err != nil:
		return unknown
	case strconv.FormatInt(at, 10) == o.started:
		return lives
	}
	return died
}
