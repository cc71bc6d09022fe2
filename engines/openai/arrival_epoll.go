//go:build linux && (amd64 || arm64)

package openai

import (
	"syscall"
	"time"
	"unsafe"
)

// arrived is the arrival of what was just read. The kernel's stamp is of the
// packet that brought the last byte, and no waiting of ours moves it. Of the
// bytes before that it tells nothing: they came since the socket was last read
// empty, and since the loop last knew that nothing lay unread. (Where the loop
// had been waiting and was woken late, they may have come before that: as long as
// the last byte waited stands for it.) The stamp is by the wall clock, which may
// be set meanwhile: what cannot be is put within the time since the socket was
// read before.
func (l *loop) arrived(s *socket, n int) arrival {
	now, before := elapsed(), s.read
	if n < readSize {
		s.read = now
	}
	c := (*syscall.Cmsghdr)(unsafe.Pointer(&l.control[0]))
	l.stamped = l.header.Controllen >= uint64(syscall.SizeofCmsghdr) && c.Level == syscall.SOL_SOCKET && c.Type == syscall.SO_TIMESTAMPNS
	if !l.stamped {
		return arrival{at: now}
	}
	ts := (*syscall.Timespec)(unsafe.Pointer(&l.control[syscall.SizeofCmsghdr]))
	at := min(max(l.now-time.Duration(l.wall-ts.Nano()), before), now)
	since := max(before, l.quiet)
	a := arrival{at: at, lag: now - at, most: now - since, apart: max(0, at-since)}
	if woken := l.quiet == l.now; woken && before < l.quiet {
		a.apart = max(a.lag, a.most)
	}
	return a
}
