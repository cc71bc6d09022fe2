package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/openloop-go/openloop/internal/nullserver"
)

// serveArgs make this binary the server. They are for this command itself, so
// that they are not among the flags: what the server writes when it ends is no
// text.
var serveArgs = []string{"roofline", "-serve"}

// startNull starts the server in a process of its own, of this binary. It has
// as many senders as the client has loops that read.
func startNull(ctx context.Context) (*nullserver.Process, error) {
	self, err := ownBinary()
	if err != nil {
		return nil, err
	}
	return nullserver.Start(ctx, nullOptions(), append([]string{self}, serveArgs...)...)
}

func nullOptions() nullserver.Options {
	return nullserver.Options{Journal: true, Senders: min(max(runtime.GOMAXPROCS(0)/4, 1), 8)}
}

// ownBinary is the path of this program. A link to it under another name is
// taken by that name, since a test binary is more than one program.
func ownBinary() (string, error) {
	self, err := os.Executable()
	if err == nil && filepath.Base(self) == filepath.Base(os.Args[0]) {
		return self, nil
	}
	return exec.LookPath(os.Args[0])
}
