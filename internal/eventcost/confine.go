//go:build linux

package main

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"
)

// cpuSet is a set of CPUs as the kernel has it.
type cpuSet [1024 / 64]uint64

// allowed are the CPUs that this thread may use.
func allowed() (set cpuSet, err error) {
	_, _, no := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if no != 0 {
		return set, os.NewSyscallError("sched_getaffinity", no)
	}
	return set, nil
}

func (set cpuSet) apply() error {
	_, _, no := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if no != 0 {
		return os.NewSyscallError("sched_setaffinity", no)
	}
	return nil
}

// list are the numbers of the CPUs.
func (set cpuSet) list() (cpus []int) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			cpus = append(cpus, 64*i+bits.TrailingZeros64(word))
		}
	}
	return cpus
}

func oneCPU(n int) (set cpuSet) {
	set[n/64] |= 1 << (n % 64)
	return set
}

// confinement is where a process may run. The zero value is anywhere.
type confinement struct {
	to  cpuSet
	set bool
}

func confined(cpu int) confinement { return confinement{oneCPU(cpu), true} }

// start starts a command there: a child has the CPUs of the thread that starts
// it.
func (c confinement) start(cmd *exec.Cmd) error {
	if !c.set {
		return cmd.Start()
	}
	return c.within(cmd.Start)
}

// within calls f on a thread with the CPUs.
func (c confinement) within(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := allowed()
	if err != nil {
		return err
	}
	if err := c.to.apply(); err != nil {
		return err
	}
	defer before.apply()
	return f()
}

// burn is a process that is busy until its input ends.
func burn([]string) error {
	runtime.GOMAXPROCS(1)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		spin()
	}
}

// spin keeps a CPU busy for a while.
//
//go:noinline
func spin() (n uint64) {
	for i := range uint64(1 << 20) {
		n += i * i
	}
	return n
}

// burners are busy processes on one CPU.
type burners struct {
	cmds []*exec.Cmd
	ins  []io.Closer
}

func startBurners(n int, where confinement) (*burners, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &burners{}
	for range n {
		cmd := exec.Command(self, "burn")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = where.start(cmd)
		}
		if err != nil {
			b.stop()
			return nil, fmt.Errorf("start a busy process: %w", err)
		}
		b.cmds, b.ins = append(b.cmds, cmd), append(b.ins, in)
	}
	return b, nil
}

// stop ends them. They get a CPU seldom, so they are not asked.
func (b *burners) stop() {
	for i, cmd := range b.cmds {
		b.ins[i].Close()
		cmd.Process.Kill()
		cmd.Wait()
	}
}
