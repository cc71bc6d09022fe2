package vllm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/openloop-go/openloop/engines"
)

var (
	// monitorOn is the line by which vLLM's JIT monitor says that it watches.
	monitorOn = regexp.MustCompile(`Kernel JIT monitor activated`)
	// compileEvent is one compilation that a request had to wait for: the
	// monitor's warning, or the report of Triton's autotuner, which the
	// monitor switches on.
	compileEvent = regexp.MustCompile(`JIT \w+ during inference: |Triton autotuning for function `)
)

// CompileEvents implements engines.Logger from the lines of vLLM's JIT
// monitor in the server's log. It is unknown where the log shows no monitor
// (vLLM before April 2026).
//
// Silence proves little: without --jit-monitor-verbose the monitor names each
// kernel once per process, so that a kernel which compiled during warmup can
// compile again for another shape unseen; and it watches kernels, not graph
// captures or recompilations by torch.compile.
func (s *Server) CompileEvents(context.Context) (engines.Count, error) {
	file, err := os.Open(s.LogFile())
	if err != nil {
		return engines.Count{}, fmt.Errorf("compile events of vllm: %w", err)
	}
	defer file.Close()
	var n engines.Count
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadString('\n')
		if monitorOn.MatchString(line) {
			n.Known = true
		}
		if compileEvent.MatchString(line) {
			n.Known = true
			n.N++
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return engines.Count{}, fmt.Errorf("compile events of vllm: %w", err)
		}
	}
}
