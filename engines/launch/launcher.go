package launch

import (
	"context"
	"io"
	"os"
	"time"
)

// Launcher starts a server's program somewhere. What a server is asked, when
// it counts as ready, its log and its end are the business of the engine
// package; the launcher only runs the program.
type Launcher interface {
	// Launch starts the program and returns when it runs, which is long before
	// the server is ready. It returns early, leaving nothing behind, when ctx
	// ends; a program that runs does not end with ctx. Its error is one
	// sentence that names the remedy and holds no secret.
	Launch(ctx context.Context, spec Spec) (*Running, error)
}

// Spec is one start of a server's program.
type Spec struct {
	// Name is the kind of server, for names and messages: "vllm".
	Name string
	// Command is the program; empty is what the launcher, or its image, runs
	// by itself.
	Command []string
	// Args are the arguments after it for the place that the launcher chose.
	// Nil is none.
	Args func(Place) []string
	// Env are KEY=VALUE pairs; the last of a name wins.
	Env []string
	// Dir is the working directory; empty is the launcher's default.
	Dir string
	// Image, GPUs, Mounts and ShmSize are those of Config. A launcher refuses
	// what means nothing to it.
	Image   string
	GPUs    string
	Mounts  []Mount
	ShmSize int64
	// Grace is the time between asking the program to end and killing it.
	Grace time.Duration
	// Guarded are files that are to stay open until the program has ended,
	// even when this process ends first and somebody else must see to it: locks
	// on the devices that the program uses. A launcher without such a somebody
	// has no use for them. Nil is none.
	Guarded []*os.File
	// Log receives what the program prints, and lines of the launcher's own
	// about what takes long. Nobody may write to it after Running.Done.
	Log io.Writer
}

// Place is where a server listens and keeps files, as the server sees it.
type Place struct {
	// Host and Port are the address to listen on: "0.0.0.0" and 8000 in a
	// container.
	Host string
	Port int
	// Temp is a folder for files that nobody needs afterwards.
	Temp string
}

// Running is a server's program that runs.
type Running struct {
	// URL is where the server's port is reached from here:
	// "http://127.0.0.1:32768".
	URL string
	// ID names this start, and no other one: "pid 4711".
	ID string
	// Command is a command line that says what was started, for people. It
	// may hold secrets; they are removed before it is shown.
	Command []string
	// Settings are facts that decide performance and are recorded with each
	// measurement, such as an image's digest. No secrets. Nil is none.
	Settings map[string]string
	// Local says that the program computes on this host. False leaves the
	// hardware unknown, unless the configuration names it.
	Local bool
	// Done is closed when the program has ended, by itself or not, and all
	// that it printed is in the log.
	Done <-chan struct{}
	// Ended says how, once Done is closed: "exited with code 1".
	Ended func() string
	// Gone reports that the program has ended by itself though Done may not be
	// closed yet, while what it left is being cleared away: one that dies just
	// before it is stopped is not taken for one that was stopped. It may take a
	// moment to find out, and is not asked once Stop has been. Nil leaves it to
	// Done.
	Gone func() bool
	// Stop ends the program and everything that it started: it is asked
	// first, and killed when the grace has passed or ctx ends. It returns when
	// nothing is left, with an error when something is. It may be called
	// again, and by several goroutines.
	Stop func(ctx context.Context) error
}
