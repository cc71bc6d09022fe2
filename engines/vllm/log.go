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
	// compileEvent is one compilation that a request had to wait for, if one was
	// there: the monitor's warning, the report of Triton's autotuner, which the
	// monitor switches on, or torch.compile's of a graph.
	compileEvent = regexp.MustCompile(`JIT \w+ during inference: |Triton autotuning for function ` +
		`|Compiling a graph for compile range |saved AOT compiled function to `)
	// graphLoaded is torch.compile's report of a graph from its cache: it
	// reports here.
	graphLoaded = regexp.MustCompile(`Directly load (AOT compilation|the compiled graph)`)
)

// CompileEvents implements engines.Logger from the lines of vLLM's JIT
// monitor and of torch.compile in the server's log, those of its start
// included. It is unknown where the log shows neither (vLLM before April 2026;
// on a processor with --enforce-eager, where nothing is compiled).
//
// Silence proves little: without --jit-monitor-verbose the monitor names each
// kernel once per process, so that a kernel which compiled during warmup can
// compile again for another shape unseen; it watches kernels, not captures of
// graphs; and what torch.compile recompiles below vLLM's own cache is not
// logged.
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
		if monitorOn.MatchString(line) || graphLoaded.MatchString(line) {
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
