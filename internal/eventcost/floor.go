//go:build linux

package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// floorSource is the floor, in C.
//
//go:embed testdata/floor.c
var floorSource []byte

// compile makes the floor's program in a folder.
func compile(dir string) (program string, err error) {
	source := filepath.Join(dir, "floor.c")
	if err := os.WriteFile(source, floorSource, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "floor")
	out, err := exec.Command("cc", "-O2", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile the floor: %w\n%s\ngive one with -floor", err, out)
	}
	return program, nil
}
