package openai

import (
	"errors"
	"syscall"
)

// The numbers of Winsock, which package syscall does not name.
const (
	wsaEMFILE        = syscall.Errno(10024)
	wsaEADDRNOTAVAIL = syscall.Errno(10049)
	wsaENETUNREACH   = syscall.Errno(10051)
	wsaECONNABORTED  = syscall.Errno(10053)
	wsaECONNRESET    = syscall.Errno(10054)
	wsaENOBUFS       = syscall.Errno(10055)
	wsaECONNREFUSED  = syscall.Errno(10061)
	wsaEHOSTUNREACH  = syscall.Errno(10065)
)

// exhausted reports that this host ran out of descriptors, ports or buffers.
func exhausted(err error) bool {
	return errors.Is(err, wsaEMFILE) || errors.Is(err, wsaEADDRNOTAVAIL) || errors.Is(err, wsaENOBUFS)
}

// noAddress reports that there is no address, or port, to dial from.
func noAddress(err error) bool { return errors.Is(err, wsaEADDRNOTAVAIL) }

// noRoute reports that there is no way to the host.
func noRoute(err error) bool {
	return errors.Is(err, wsaENETUNREACH) || errors.Is(err, wsaEHOSTUNREACH)
}

// brokenOff reports that the other side closed the connection or reset it.
func brokenOff(err error) bool {
	return atEnd(err) || errors.Is(err, wsaECONNRESET) || errors.Is(err, wsaECONNABORTED)
}

// refused reports that nobody listens.
func refused(err error) bool { return errors.Is(err, wsaECONNREFUSED) }
