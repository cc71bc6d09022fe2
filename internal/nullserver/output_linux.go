package nullserver

import (
	"net"
	"syscall"
	"unsafe"
)

// output is a connection as its sender sees it. The sender writes to the
// descriptor itself: whoever answers holds the connection open meanwhile.
type output struct{ fd int }

func newOutput(c *net.TCPConn) (o output, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return o, err
	}
	return o, raw.Control(func(fd uintptr) { o.fd = int(fd) })
}

// write writes as much as the connection takes now.
func (o output) write(b []byte) (n int, err error) {
	for n < len(b) {
		m, _, no := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(o.fd), uintptr(unsafe.Pointer(&b[n])), uintptr(len(b)-n))
		switch no {
		case 0:
			n += int(m)
		case syscall.EINTR:
		case syscall.EAGAIN:
			return n, nil
		default:
			return n, no
		}
	}
	return n, nil
}
