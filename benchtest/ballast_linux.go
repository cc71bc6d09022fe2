//go:build !race && !asan && !msan

package benchtest

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shed gives the memory behind b back: Go clears a large allocation, and so
// touches it, where any part of its address space was in use before. The pages
// are zero when they are next touched, as they are now.
func shed(b []byte) {
	page := os.Getpagesize()
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(page))
	if n := (len(b) - skip) &^ (page - 1); n > 0 {
		_ = unix.Madvise(b[skip:skip+n], unix.MADV_DONTNEED)
	}
}
