// Package gpu reads NVIDIA GPUs of this host: which there are, and their
// clocks, temperature, power and memory as they are now. It reads through
// NVML where that can be loaded (on Linux, built with cgo), else by asking
// nvidia-smi. What cannot be read is unknown, never zero.
package gpu

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/openloop-go/openloop/engines"
)

// Device is a GPU, or a part of one (MIG).
type Device struct {
	// Index is its place in NVML's order, UUID its name for ever, Model what is
	// sold: "NVIDIA H200".
	Index, UUID, Model string
	// Driver is the version of the driver, CUDA the newest that the driver
	// serves; empty is unknown.
	Driver, CUDA string
	// PowerLimitWatts is the limit that is enforced, MaxClockMHz the highest
	// clock of the processors.
	PowerLimitWatts, MaxClockMHz engines.Count
	// Persistence and MIG are "on" or "off"; empty is unknown.
	Persistence, MIG string
}

// Reading is a device's state at one moment.
type Reading struct {
	engines.Device
	// Used and Total are the bytes of its memory; both are zero when unknown.
	Used, Total uint64
}

// Reader reads the GPUs of this host.
type Reader interface {
	// List lists the GPUs.
	List(ctx context.Context) ([]Device, error)
	// Read reads those with the given UUIDs, in their order.
	Read(ctx context.Context, uuids []string) ([]Reading, error)
}

// ErrNone is that there is nothing to ask: no driver's library and no
// nvidia-smi.
var ErrNone = errors.New("this host has no NVIDIA driver to ask (neither libnvidia-ml nor nvidia-smi)")

// Host reads the GPUs of this host. It is an ErrNone where there are none.
func Host() (Reader, error) {
	if !programOnly.Load() {
		if r := library(); r != nil {
			return r, nil
		}
	}
	return findProgram()
}

// programOnly keeps Host from NVML.
var programOnly atomic.Bool

// AskProgram has Host ask nvidia-smi even where NVML can be loaded, until undo
// is called: in tests a script can stand for it.
func AskProgram() (undo func()) {
	was := programOnly.Swap(true)
	return func() { programOnly.Store(was) }
}
