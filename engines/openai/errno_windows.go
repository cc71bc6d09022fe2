package openai

import (
	"errors"
	"syscall"
)

// The numbers of Winsock, which package syscall does not name.
const (
	wsaEMFILE        = syscall.Errno(10024)
	wsaEADDRNOTAVAIL = syscall.Errno(10049)
	wsaENOBUFS       = syscall.Errno(10055)
	wsaECONNREFUSED  = syscall.Errno(10061)
)

// exhausted reports that this host ran out of descriptors, ports or buffers.
func exhausted(err error) bool {
	return errors.Is(err, wsaEMFILE) || errors.Is(err, wsaEADDRNOTAVAIL) || errors.Is(err, wsaENOBUFS)
}

// refused reports that nobody listens.
func refused(err error) bool { return errors.Is(err, wsaECONNREFUSED) }
