//go:build !(linux && (amd64 || arm64))

package openai

// newDirect is nil: all generations go through net/http here.
func newDirect(*Engine) *pool { return nil }
