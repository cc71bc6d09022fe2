package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/vllm"
)

// startSim runs the verb in a process of its own and returns its URL and the
// command.
func startSim(t *testing.T, args ...string) (string, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestSimProcess$", "--"}, args...)...)
	cmd.Env = append(os.Environ(), "OPENLOOP_SIM_PROCESS=1")
	cmd.Stderr = io.Discard
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`^listening on (http://127\.0\.0\.1:[0-9]+)\n$`).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("first line of output: %q, %v", line, err)
	}
	return m[1], cmd
}

// TestSimProcess is the process that startSim runs.
func TestSimProcess(t *testing.T) {
	if os.Getenv("OPENLOOP_SIM_PROCESS") == "" {
		return // it is nothing by itself
	}
	for i, arg := range os.Args {
		if arg == "--" {
			os.Exit(simVerb(os.Args[i+1:], os.Stdout, os.Stderr))
		}
	}
}

func TestSimServesTheFlavorAskedFor(t *testing.T) {
	url, _ := startSim(t, "-addr", "127.0.0.1:0", "-flavor", "sglang", "-seed", "7", "-quiet")
	engine, err := sglang.Attach(t.Context(), sglang.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := engine.Flush(t.Context()); err != nil || f.Outcome != engines.Flushed {
		t.Errorf("flush: %+v, %v", f, err)
	}
}

// The packages that start servers start the engine as one of them.
func TestSimStandsInForServers(t *testing.T) {
	command := []string{os.Args[0], "-test.run=^TestSimProcess$", "--"}
	env := []string{"OPENLOOP_SIM_PROCESS=1"}
	t.Run("vLLM", func(t *testing.T) {
		engine, stop, err := vllm.Launch(t.Context(), vllm.Config{
			Model: "org/m", APIKey: "sesame-open", Command: command, Args: []string{"--max-num-seqs", "3"}, Env: env,
			LogFile: t.TempDir() + "/log",
		})
		if err != nil {
			t.Fatal(err)
		}
		defer stop(context.WithoutCancel(t.Context()))
		server := engine.(*vllm.Server)
		id, err := server.Describe(t.Context())
		if err != nil || id.Model != "org/m" || id.Settings["max_num_seqs"] != "3" {
			t.Errorf("%+v, %v", id, err)
		}
		if f, err := server.Flush(t.Context()); err != nil || f.Outcome != engines.Flushed {
			t.Errorf("flush: %+v, %v", f, err)
		}
	})
	t.Run("SGLang", func(t *testing.T) {
		engine, stop, err := sglang.Launch(t.Context(), sglang.Config{
			Model: "org/m", APIKey: "sesame-open", Command: append(command, "-flavor", "sglang"), Env: env,
			LogFile: t.TempDir() + "/log",
		})
		if err != nil {
			t.Fatal(err)
		}
		defer stop(context.WithoutCancel(t.Context()))
		if f, err := engine.(engines.Flusher).Flush(t.Context()); err != nil || f.Outcome != engines.Flushed {
			t.Errorf("flush: %+v, %v", f, err)
		}
	})
}

// The times of events are those of the host's clock, which other processes read
// too.
func TestSimStampsEvents(t *testing.T) {
	url, _ := startSim(t, "-addr", "127.0.0.1:0", "-stamp-events", "-quiet")
	resp, err := http.Post(url+"/v1/completions", "application/json",
		strings.NewReader(`{"prompt":[1,2,3],"max_tokens":4,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	want := 4
	if runtime.GOOS == "windows" {
		want = 0 // it has no such clock
	}
	if got := len(regexp.MustCompile(`,"sent":[0-9]+}\n`).FindAll(body, -1)); err != nil || got != want {
		t.Errorf("%d events are stamped, want %d, %v:\n%s", got, want, err, body)
	}
}

func TestSimEndsWhenInterrupted(t *testing.T) {
	url, cmd := startSim(t, "-addr", "127.0.0.1:0", "-dev-mode", "-decode-slowdown", "1.1")
	engine, err := vllm.Attach(t.Context(), vllm.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	// A stream that is under way when the interrupt comes still ends well.
	first := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		n := 0
		_, err := engine.Generate(context.Background(), &engines.Request{ID: "r1", Tokens: []int32{1, 2, 3}, MaxTokens: 64, IgnoreEOS: true},
			func(engines.Chunk) {
				if n++; n == 1 {
					close(first)
				}
			})
		ended <- err
	}()
	<-first
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("this system cannot interrupt a process: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the stream under way: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v, want status 0", err)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second); err == nil {
		t.Error("the port is still open")
	}
}

func TestSimDemandsItsKey(t *testing.T) {
	t.Setenv("SIM_TEST_KEY", "secret-of-the-test")
	url, _ := startSim(t, "-addr", "127.0.0.1:0", "-api-key", "$SIM_TEST_KEY")
	for key, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer secret-of-the-test": 200} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/v1/models", nil)
		if key != "" {
			r.Header.Set("Authorization", key)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("with %q: status %d, want %d", key, resp.StatusCode, want)
		}
	}
}

func TestSimRefusesWhatItCannotServe(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"an unknown flag", []string{"-nonsense"}, "openloop sim: flag provided but not defined: -nonsense\n"},
		{"two models", []string{"now", "-quiet", "then"}, "openloop sim: want one model, got [\"now\" \"then\"]\n"},
		{"two addresses", []string{"-addr", ":0", "-port", "1"}, "openloop sim: want -addr or -host and -port, not both\n"},
		{"a port that is none", []string{"-port", "70000"}, "openloop sim: -port must be from 0 to 65535\n"},
		{"several wrong values", []string{"-flavor", "tgi", "-decode-slowdown", "-1"},
			"openloop sim: sim: Flavor must be \"vllm\", \"sglang\" or \"tensorrt_llm\", got \"tgi\"\nopenloop sim: DecodeSlowdown must be positive and finite, got -1\n"},
		{"a key that is not there", []string{"-api-key", "$NO_SUCH_KEY_HERE"},
			"openloop sim: invalid value \"$NO_SUCH_KEY_HERE\" for flag -api-key: the environment has no NO_SUCH_KEY_HERE\n"},
		{"a port that is taken", []string{"-addr", busy.Addr().String()}, "address already in use: choose another, or port 0\n"},
	} {
		var stdout, stderr bytes.Buffer
		status := simVerb(row.args, &stdout, &stderr)
		text := stderr.String()
		if i := strings.Index(text, "openloop sim: "); i > 0 {
			text = text[i:] // after the engine's log
		}
		if status != exitUnusable || stdout.Len() > 0 || !strings.HasSuffix(text, row.want) {
			t.Errorf("%s: status %d, output %q, error %q; want status %d and %q", row.name, status, stdout.String(), text, exitUnusable, row.want)
		}
	}
}

func TestSimHelpNamesItsFlags(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := simVerb([]string{"-h"}, &stdout, &stderr); status != exitOK || stderr.Len() > 0 {
		t.Errorf("status %d, error output %q", status, stderr.String())
	}
	for _, want := range []string{"usage: openloop sim", "-addr HOST:PORT", "-decode-slowdown factor", "-flush-lies"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help does not have %q", want)
		}
	}
}
