//go:build !race && !asan && !msan

package benchtest

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is shed is in memory no longer, but for the pages at the ends, which it
// may share, and reads as zero.
func TestShed(t *testing.T) {
	b := make([]byte, ballastSize)
	for i := range b {
		b[i] = 1
	}
	pages := len(b) / os.Getpagesize()
	require.GreaterOrEqual(t, resident(t, b), pages-1)
	shed(b)
	assert.Zero(t, resident(t, b))
	assert.Zero(t, b[len(b)/2])
	runtime.KeepAlive(b)
}

// resident is how many whole pages of b are in memory.
func resident(t *testing.T, b []byte) (n int) {
	page := uintptr(os.Getpagesize())
	from := (uintptr(unsafe.Pointer(unsafe.SliceData(b))) + page - 1) &^ (page - 1)
	to := (uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(len(b))) &^ (page - 1)
	in := make([]byte, (to-from)/page)
	_, _, no := syscall.Syscall(syscall.SYS_MINCORE, from, to-from, uintptr(unsafe.Pointer(&in[0])))
	require.Zero(t, no)
	for _, b := range in {
		n += int(b & 1)
	}
	return n
}
