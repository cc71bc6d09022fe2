//go:build vllm && !windows

package vllm

// Ended is closed when the server started here has ended and what it left
// behind is gone.
func (s *Server) Ended() <-chan struct{} { return s.s.Process().Done() }
