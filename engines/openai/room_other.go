//go:build !linux

package openai

// hostRoom is nil: what this host can have shows when it has run out of it.
func hostRoom(int) error { return nil }

// descriptorRoom is nil for the same reason.
func descriptorRoom(string, int) error { return nil }

// shortage is empty: the error has no numbers here.
func shortage(error) string { return "" }
