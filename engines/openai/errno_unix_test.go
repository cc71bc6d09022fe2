//go:build !windows

package openai

import "syscall"

// The numbers that tests are about.
const (
	syscallEADDRNOTAVAIL = syscall.EADDRNOTAVAIL
	syscallECONNREFUSED  = syscall.ECONNREFUSED
	syscallEHOSTUNREACH  = syscall.EHOSTUNREACH
)
