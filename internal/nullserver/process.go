package nullserver

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Process is a server in a process of its own.
type Process struct {
	// URL is its root.
	URL string

	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
	err strings.Builder
	end context.CancelFunc
}

// listening begins the line that Child prints.
const listening = "listening on "

// Start runs a command that calls Child and returns when it listens. The server
// ends with ctx, with Stop, or with this process.
func Start(ctx context.Context, o Options, command ...string) (*Process, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &Process{cmd: exec.CommandContext(ctx, command[0], command[1:]...), end: cancel}
	if err := p.start(text); err != nil {
		cancel()
		if p.cmd.Process != nil {
			_ = p.cmd.Wait()
		}
		if said := strings.TrimSpace(p.err.String()); said != "" {
			err = fmt.Errorf("%w: it said %s", err, said)
		}
		return nil, fmt.Errorf("start the null server: %w", err)
	}
	return p, nil
}

func (p *Process) start(options []byte) error {
	p.cmd.Stderr, p.cmd.WaitDelay = &p.err, time.Second
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if _, err := in.Write(append(options, '\n')); err != nil {
		return err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return err
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), listening)
	if !ok {
		return fmt.Errorf("%s printed %q", p.cmd, line)
	}
	p.URL = url
	return nil
}

// Stop ends the server and returns what Read has not told yet of its requests,
// those included that had no whole reply.
func (p *Process) Stop() (journal []Request, err error) {
	defer p.end()
	p.in.Close()
	decoded := gob.NewDecoder(p.out).Decode(&journal)
	if err := p.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("stop the null server: %w: %s", err, p.err.String())
	}
	if decoded != nil {
		return nil, fmt.Errorf("stop the null server: read its journal: %w", decoded)
	}
	return journal, nil
}

// Kill ends the server at once, and its journal with it.
func (p *Process) Kill() {
	p.end()
	_ = p.cmd.Wait() // it was killed
}

// CPU is the CPU time that the server took, once it has been stopped.
func (p *Process) CPU() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// Child is the whole of a server's process: it reads Options as a line of JSON
// (no line is their zero), prints its address, serves until its input ends and
// writes its journal.
func Child(stdin io.Reader, stdout io.Writer) error {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the null server's options: %w", err)
	}
	var o Options
	if len(strings.TrimSpace(string(line))) > 0 {
		if err := json.Unmarshal(line, &o); err != nil {
			return fmt.Errorf("read the null server's options: %w", err)
		}
	}
	s, err := New(o)
	if err != nil {
		return err
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	// Senders are threads that sleep and write by themselves; those who answer
	// need one besides.
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), len(s.senders)+1))
	if _, err := fmt.Fprintf(stdout, "%shttp://%s\n", listening, l.Addr()); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		l.Close()
	}()
	if err := s.Serve(l); err != nil {
		return err
	}
	return gob.NewEncoder(stdout).Encode(s.take())
}
