//go:build unix && !linux

package process

import "syscall"

func setDeathSignal(*syscall.SysProcAttr) {}
