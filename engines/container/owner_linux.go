package container

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func describe(pid int) owner {
	o := owner{pid: pid, machine: line("/etc/machine-id"), boot: line("/proc/sys/kernel/random/boot_id")}
	if namespace, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		o.namespace = strings.Trim(strings.TrimPrefix(namespace, "pid:"), "[]")
	}
	o.started, _ = startTicks(pid)
	return o
}

func line(file string) string {
	b, _ := os.ReadFile(file)
	return strings.ReplaceAll(strings.TrimSpace(string(b)), "/", "")
}

// startTicks is when a process started, in clock ticks since the boot (field
// 22 of proc(5)). Unlike a time of day it never shifts. One that has ended and
// waits to be reaped is an os.ErrProcessDone.
func startTicks(pid int) (string, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// Field 2 is the name in parentheses, which may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const started = 22 - 3 // the first of these is field 3
	switch {
	case len(fields) <= started:
		return "", errors.New("too few fields")
	case fields[0] == "Z" || fields[0] == "X":
		return "", os.ErrProcessDone
	}
	return fields[started], nil
}

// look judges a process of this host, boot and namespace. One that another
// user keeps hidden (hidepid) still takes signals.
func look(o owner) fate {
	ticks, err := startTicks(o.pid)
	switch {
	case err == nil && ticks == o.started:
		return lives
	case err == nil, errors.Is(err, os.ErrProcessDone):
		return died // or its pid is another's
	case errors.Is(err, os.ErrNotExist) && syscall.Kill(o.pid, 0) == syscall.ESRCH:
		return died
	}
	return unknown
}
