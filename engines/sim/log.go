package sim

import (
	"fmt"
	"time"
)

// logf writes a line as the flavor's engine process does.
func (s *Server) logf(level, place, format string, args ...any) {
	if s.cfg.Log == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	now := time.Now()
	s.logging.Lock()
	defer s.logging.Unlock()
	switch s.cfg.Flavor {
	case SGLang:
		_, _ = fmt.Fprintf(s.cfg.Log, "[%s] %s\n", now.Format("2006-01-02 15:04:05"), text)
		return
	case TensorRTLLM:
		_, _ = fmt.Fprintf(s.cfg.Log, "[%s] [TRT-LLM] [%.1s] %s\n", now.Format("01/02/2006-15:04:05"), level, text)
		return
	}
	_, _ = fmt.Fprintf(s.cfg.Log, "(EngineCore pid=1) %s %s [%s] %s\n", level, now.Format("01-02 15:04:05"), place, text)
}

// logStart says what has started.
func (s *Server) logStart() {
	switch s.cfg.Flavor {
	case SGLang:
		s.logf("INFO", "", "The server is fired up and ready to roll!")
		return
	case TensorRTLLM:
		s.logf("INFO", "", "TensorRT LLM version: %s, serving model %s", Version, s.cfg.Model)
		return
	}
	s.logf("INFO", "api_server.py:1", "vLLM server version %s, serving model %s", Version, s.cfg.Model)
	s.logf("INFO", "jit_monitor.py:58", "Kernel JIT monitor activated; monitored JIT compilations during inference will use mode=warn.")
}

// logCompile is the line of vLLM's monitor for a compilation that requests
// wait for; the others have none, and say so in words of our own.
func (s *Server) logCompile(shape string) {
	if s.cfg.Flavor != VLLM {
		s.logf("INFO", "", "Compiling %s", shape)
		return
	}
	s.logf("WARNING", "jit_monitor.py:93", "Triton kernel JIT compilation during inference: %s. This causes a latency spike; consider extending warmup to cover this shape/config.", shape)
}
