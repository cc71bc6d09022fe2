//go:build !linux || !cgo

package gpu

// library: without cgo, and where there is no dlopen, nvidia-smi is asked.
func library() Reader { return nil }
