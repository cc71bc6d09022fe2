package benchtest

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm is a timer of the kernel's behind a descriptor that the runtime's
// poller watches, as it watches sockets: it fires within some tens of
// microseconds, and whoever waits for it holds neither a thread nor a P.
//
// Note: a thread of its own in clock_nanosleep, with a timer slack of 1 ns,
// wakes a few microseconds earlier, but holds its P while it sleeps, so that
// the goroutine that an arrival starts has to be stolen by another thread. From
// the schedule to the first line of that goroutine, at 2,000 a second on two
// cores, p50 and p90 were 55 and 125 µs that way, 40 and 70 µs this way.
type alarm struct {
	file *os.File
	fd   int
	// zero is the kernel's monotonic time at the origin of the clock.
	zero int64
}

// newAlarm makes an alarm on the clock of that origin. It is nil where there is
// none: in a bubble, whose clock the kernel does not know, and where
// descriptors have run out.
func newAlarm(origin time.Time) *alarm {
	zero, real := kernelTime(origin)
	if !real {
		return nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &alarm{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd, zero: zero}
}

// wait returns when it is at, or an instant before; false when the alarm is
// out of order.
func (a *alarm) wait(at time.Duration) bool {
	// A value of zero would disarm it, and a time in the past fires at once.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, a.zero+int64(at)))}
	if unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil) != nil {
		return false
	}
	var expirations [8]byte
	_, err := a.file.Read(expirations[:])
	return err == nil
}

func (a *alarm) close() {
	if a != nil {
		a.file.Close()
	}
}

// onRealClock reports that package time is the kernel's at that instant, and not
// that of a bubble.
func onRealClock(instant time.Time) bool {
	_, real := kernelTime(instant)
	return real
}

// kernelTime is the kernel's monotonic time at an instant of package time;
// false where the two run apart: in a bubble package time stands still while a
// goroutine runs, and the kernel's goes on.
func kernelTime(instant time.Time) (zero int64, real bool) {
	stood := time.Since(instant)
	begun, ok := kernelNow()
	for now := begun; ok && now-begun < int64(time.Microsecond); now, ok = kernelNow() {
	}
	if !ok || time.Since(instant) == stood {
		return 0, false
	}
	closest := time.Hour
	for range 16 {
		before := time.Since(instant)
		now, _ := kernelNow()
		after := time.Since(instant)
		if after-before < closest {
			closest, zero = after-before, now-int64(before+after)/2
		}
	}
	return zero, true
}

func kernelNow() (ns int64, ok bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano(), err == nil
}
