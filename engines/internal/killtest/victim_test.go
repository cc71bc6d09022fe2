//go:build linux

package killtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/lock"
	"github.com/openloop-go/openloop/engines/vllm"
	"github.com/openloop-go/openloop/fixtures"
)

const (
	launcherName = "KILLTEST_LAUNCHER"
	runsName     = "KILLTEST_RUNS"
	habitName    = "KILLTEST_HABIT"
)

// habits are what victims do differently.
var habits = []string{
	"as usual",
	"restarts",          // its server, between runs
	"shares its server", // with other tests, and never stops it itself
}

// undated is a test that does not tell its deadline, so that it is not kept.
type undated struct{ testing.TB }

// TestVictim is a test like any: it starts a server and measures it.
func TestVictim(t *testing.T) {
	if os.Getenv(roleName) != "victim" {
		t.Skip("it is run by TestKills")
	}
	runs, err := strconv.Atoi(os.Getenv(runsName))
	if err != nil {
		t.Fatal(err)
	}
	cfg := vllm.Config{Model: "m", Hardware: "sim", Command: []string{os.Args[0]}, Env: []string{roleName + "=server"}}
	configure(os.Getenv(launcherName), &cfg)
	starts := 1
	var engine engines.Engine
	switch os.Getenv(habitName) {
	case "shares its server":
		shared := fixtures.Shared{Start: func(ctx context.Context) (engines.Engine, func(context.Context) error, error) {
			return vllm.Launch(ctx, cfg)
		}}
		engine = shared.Engine(undated{t})
	case "restarts":
		starts = min(runs, 50)
		fallthrough
	default:
		engine = vllm.Start(undated{t}, cfg)
	}
	t.Logf("victim: its server is at %s", engine.(interface{ URL() string }).URL())
	benchtest.Measure(undated{t}, engine, benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(32), Output: fixtures.Fixed(8)},
		Closed:   benchtest.Closed{InFlight: 1}, Requests: 4, Warmup: -1, Settle: -1,
		Runs: runs, Starts: starts, Limits: benchtest.Limits{Lag: time.Hour, Achieved: 0.01},
	})
}

// plan is what becomes of a victim.
type plan struct {
	launcher, habit string
	ending          ending
	runs            int
	after           time.Duration
	// env are further variables.
	env []string
}

// victim is a test binary that measures.
type victim struct {
	cmd    *exec.Cmd
	mark   string
	folder string
	output said
}

// said is what a process prints.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a victim.
func start(t *testing.T, p plan) *victim {
	t.Helper()
	v := &victim{folder: t.TempDir()}
	v.mark = filepath.Base(filepath.Dir(v.folder)) + "-" + filepath.Base(v.folder)
	v.cmd = exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.v")
	if p.ending.deadline {
		v.cmd.Args = append(v.cmd.Args, "-test.timeout="+p.after.String())
	}
	v.cmd.Env = append(os.Environ(),
		roleName+"=victim", markName+"="+v.mark, launcherName+"="+p.launcher, runsName+"="+strconv.Itoa(p.runs), habitName+"="+p.habit,
		endingName+"="+p.ending.itself, afterName+"="+p.after.String(),
		"OPENLOOP_ARTIFACTS="+v.folder, "OPENLOOP_LOCKS="+filepath.Join(v.folder, "locks"),
		"TMPDIR="+v.folder, "GOTRACEBACK=single", "GITHUB_ACTIONS=", "CI=")
	v.cmd.Env = append(v.cmd.Env, p.env...)
	v.cmd.Dir = v.folder
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	v.cmd.Stdout, v.cmd.Stderr = &v.output, &v.output
	v.cmd.WaitDelay = 20 * time.Second // whoever holds its output then is a survivor
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.cmd.Process.Kill() })
	return v
}

// kill sends a signal, if that is the ending.
func (v *victim) kill(e *ending) {
	pid := v.cmd.Process.Pid
	switch {
	case e.signal == 0:
	case e.group:
		_ = syscall.Kill(-pid, e.signal)
	default:
		_ = v.cmd.Process.Signal(e.signal)
	}
}

// survivors are the processes that come from the victim and live.
func (v *victim) survivors(t *testing.T) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(markName+"="+v.mark+"\x00")) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, fmt.Sprintf("%s (%.60s)", filepath.Base(filepath.Dir(file)), bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return found
}

var (
	listening = regexp.MustCompile(`listening on http://127\.0\.0\.1:(\d+)`)
	ready     = regexp.MustCompile(`victim: its server is at http://127\.0\.0\.1:(\d+)`)
	finished  = regexp.MustCompile(`(?m)benchtest: run \d+ of \d+: \d+ requests in a window of`)
)

// ports are those that its servers are known to have listened on.
func (v *victim) ports(t *testing.T) (ports []string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(v.folder, "logs", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	text := v.output.String()
	for _, log := range logs {
		said, err := os.ReadFile(log)
		if err != nil {
			t.Error(err)
		}
		text += string(said)
	}
	for _, pattern := range []*regexp.Regexp{listening, ready} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			ports = append(ports, m[1])
		}
	}
	return ports
}

// free reports whether nobody listens on a port of this host. To listen there
// would ask for more: for a minute the port is also taken by any connection that
// went out from it, as another victim's may have since.
func free(port string) bool {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// unlocked is an error where the victim's lock is still held.
func (v *victim) unlocked(ctx context.Context) error {
	l, err := lock.Acquire(ctx, lock.Request{Resources: []string{lock.CPU}, Folder: filepath.Join(v.folder, "locks")})
	if err != nil {
		return err
	}
	return l.Release()
}

// reported is how many runs it said were finished.
func (v *victim) reported() int { return len(finished.FindAllString(v.output.String(), -1)) }

// records are the runs on disk. What it was writing as it was killed may be cut
// off, and is no record.
func (v *victim) records(t *testing.T) ([]*metric.Record, error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(v.folder, "records", "TestVictim", "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	f, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := metric.ReadRecords(f)
	if corrupt := (*metric.Corrupt)(nil); errors.As(err, &corrupt) && corrupt.Line == len(records)+1 {
		err = nil
	}
	return records, err
}
