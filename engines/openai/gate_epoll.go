//go:build linux && (amd64 || arm64)

package openai

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// gate is where a loop waits: for events of its sockets, or for a moment in
// which several come together.
//
// It waits in the runtime's poller, by files that are in there: a thread that
// waited in the kernel itself would hold one of the program's GOMAXPROCS, and
// requests would wait for it. The sockets' epoll is not in there, since every
// packet would wake the poller; a second epoll is, which tells of the first one
// once for each time that it is asked to.
type gate struct {
	sockets int
	door    *os.File
	timer   *os.File
	// doorway and clock are what the two wait by.
	doorway, clock syscall.RawConn
}

func openGate() (*gate, error) {
	g := &gate{sockets: -1}
	if err := g.open(); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// open opens what the gate waits by; close closes as much as was opened.
func (g *gate) open() error {
	var err error
	if g.sockets, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	door, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if g.door, g.doorway, err = pollable(door, "epoll"); err != nil {
		return err
	}
	if err := syscall.EpollCtl(door, syscall.EPOLL_CTL_ADD, g.sockets, &syscall.EpollEvent{Events: syscall.EPOLLONESHOT}); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	timer, _, no := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if no != 0 {
		return os.NewSyscallError("timerfd_create", no)
	}
	g.timer, g.clock, err = pollable(int(timer), "timerfd")
	return err
}

const clockMonotonic = 1

// pollable gives a descriptor to the runtime's poller.
func pollable(fd int, name string) (*os.File, syscall.RawConn, error) {
	_ = syscall.SetNonblock(fd, true) // by this os.NewFile knows
	f := os.NewFile(uintptr(fd), name)
	c, err := f.SyscallConn()
	return f, c, err
}

func (g *gate) close() {
	if g.door != nil {
		g.door.Close()
	}
	if g.timer != nil {
		g.timer.Close()
	}
	if g.sockets >= 0 {
		syscall.Close(g.sockets)
	}
}

// add begins to look for what is of interest of a socket.
func (g *gate) add(fd int) error {
	return syscall.EpollCtl(g.sockets, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: interest, Fd: int32(fd)})
}

// poll is how many events there are now.
func (g *gate) poll(events *[batch]syscall.EpollEvent) int { return poll(g.sockets, &events[0], batch) }

func poll(fd int, events *syscall.EpollEvent, n int) int {
	for {
		got, _, no := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(events)), uintptr(n), 0, 0, 0)
		switch no {
		case 0:
			return int(got)
		case syscall.EINTR:
		default:
			panic("openai: " + os.NewSyscallError("epoll_pwait", no).Error())
		}
	}
}

// wait returns when there are events.
func (g *gate) wait() error {
	asked := false
	return g.doorway.Read(func(fd uintptr) bool {
		if !asked {
			asked = true
			once := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLONESHOT}
			if err := syscall.EpollCtl(int(fd), syscall.EPOLL_CTL_MOD, g.sockets, &once); err != nil {
				panic("openai: " + os.NewSyscallError("epoll_ctl", err).Error())
			}
		}
		var e syscall.EpollEvent
		return poll(int(fd), &e, 1) > 0
	})
}

// pause returns after a time.
func (g *gate) pause(d time.Duration) error {
	asked := false
	return g.clock.Read(func(fd uintptr) bool {
		if !asked {
			asked = true
			at := [2]syscall.Timespec{1: syscall.NsecToTimespec(int64(d))}
			if _, _, no := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&at)), 0, 0, 0); no != 0 {
				panic("openai: " + os.NewSyscallError("timerfd_settime", no).Error())
			}
			return false
		}
		var ticks [8]byte
		n, _, _ := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&ticks)), 8)
		return n == 8
	})
}
