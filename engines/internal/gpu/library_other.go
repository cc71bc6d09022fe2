//go:build !(linux && cgo && gpu)

package gpu

// library: NVML is not built in. Its binding needs cgo, and takes long to
// build for those who have no GPU to read.
func library() Reader { return nil }
