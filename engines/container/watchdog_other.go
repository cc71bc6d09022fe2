//go:build !unix

package container

import (
	"os"
	"os/exec"
)

var deadly = []os.Signal{os.Interrupt}

func apart(*exec.Cmd) {}
