package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/gpu"
	"github.com/openloop-go/openloop/engines/internal/hardware"
	"github.com/openloop-go/openloop/engines/internal/lock"
	"github.com/openloop-go/openloop/engines/launch"
)

// claim is what a server occupies for as long as a test has it: the locks that
// keep other test binaries off, and the GPUs of this host that it computes on.
// Nil claims nothing.
type claim struct {
	names  []string // of what is locked
	locks  string   // the folder
	lock   *lock.Lock
	reader gpu.Reader // nil where there are no GPUs to read
	gpus   []hardware.GPU
	memory *gpu.Memory
	// inside: a server is on them.
	inside bool
	// gpuless: GPUs were asked for, and this host shows none.
	gpuless bool
}

// claim waits until no other test binary has what the configuration names: the
// server at its URL, else the devices of this host that a server started here
// computes on. Owner is the test, and log is told of waiting; nil tells slog.
// Helper is the test's.
func (k *Kind) claim(ctx context.Context, c Config, owner string, log func(format string, args ...any), helper func()) (*claim, error) {
	if helper == nil {
		helper = func() {}
	}
	helper()
	if c.Dial != nil {
		return nil, nil // it lives in this process
	}
	told := k.teller(log, helper)
	cl := claim{names: []string{lock.URL(c.URL)}, locks: c.locks}
	verb := "attach"
	if c.URL == "" {
		verb, cl.names = "start", cl.devices(ctx, k, c)
		if err := k.startable(c, &cl); err != nil { // what cannot start need not wait
			return nil, fmt.Errorf("start %s: %w", k.Name, err)
		}
	}
	var err error
	cl.lock, err = lock.Acquire(ctx, lock.Request{Resources: cl.names, Owner: owner, Folder: c.locks, Log: told, Helper: helper})
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, k.Name, err)
	}
	cl.memory = gpu.Watch(cl.reader, cl.uuids(), told)
	return &cl, nil
}

// teller is a log whose lines begin with the kind of server; where log is nil they
// go to slog.
func (k *Kind) teller(log func(format string, args ...any), helper func()) func(format string, args ...any) {
	if log == nil {
		return func(format string, args ...any) { slog.Info(k.Name + ": " + fmt.Sprintf(format, args...)) }
	}
	return func(format string, args ...any) {
		helper()
		log(k.Name+": "+format, args...)
	}
}

// program is what is run; empty is what the launcher's image starts.
func (k *Kind) program(c Config) []string {
	if c.Launcher == nil && len(c.Command) == 0 {
		return k.Program
	}
	return c.Command
}

// startable reports what a server to be started as a process lacks here.
func (k *Kind) startable(c Config, cl *claim) error {
	if c.Launcher != nil {
		return nil // it is for the launcher to say
	}
	program := k.program(c)[0]
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("no program %q here, and no server to attach to: %s, or set Config.Command, or set %s or OPENLOOP_ENGINE_URL to the URL of a server that runs",
			program, k.Install, k.Variable)
	}
	if cl.gpuless {
		return fmt.Errorf("Config.GPUs is %q: %s", c.GPUs, k.fill(c, noGPU))
	}
	return nil
}

// devices finds out which devices of this host a server will compute on, and
// returns the names of their locks.
func (cl *claim) devices(ctx context.Context, k *Kind, c Config) (names []string) {
	if c.Launcher != nil && c.GPUs == "" {
		return []string{lock.CPU} // as docker run does, it gives none
	}
	settings := Settings(slices.Concat(k.flags(c), c.Args), k.Short)
	if settings["device"] == "cpu" || settings["device"] == "none" || settings["gpu_layers"] == "0" {
		return []string{lock.CPU}
	}
	used := 0
	if k.Devices != nil {
		used = k.Devices(settings)
	}
	chosen := hardware.Select(ctx, (&Server{kind: k, config: c}).Environ(), used)
	switch {
	case len(chosen.GPUs) > 0:
	case chosen.Others:
		return []string{lock.Accelerators}
	default:
		cl.gpuless = c.GPUs != "" && runtime.GOOS != "darwin"
		return []string{lock.CPU}
	}
	cl.gpus = chosen.GPUs
	cl.reader, _ = gpu.Host() // it has just listed them
	for _, uuid := range cl.uuids() {
		names = append(names, lock.GPU(uuid))
	}
	return names
}

func (cl *claim) uuids() (uuids []string) {
	for _, g := range cl.gpus {
		uuids = append(uuids, g.UUID)
	}
	return uuids
}

// files are those of the locks, for a watchdog to keep open.
func (cl *claim) files() []*os.File {
	if cl == nil {
		return nil
	}
	return cl.lock.Files()
}

// claimFor is claim for a test: it is the owner, hears of waiting, and waits no
// longer than its deadline lets it.
func (k *Kind) claimFor(t launch.T, c Config) (*claim, error) {
	t.Helper()
	owner := ""
	if n, ok := t.(interface{ Name() string }); ok {
		owner = n.Name()
	}
	ctx := t.Context()
	if at := deadline(t); !at.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, at.Add(-reserve), fmt.Errorf("the test's deadline is in %v: raise -timeout", reserve))
		defer cancel()
	}
	return k.claim(ctx, c, owner, t.Logf, t.Helper)
}

// release lets other test binaries have what was claimed.
func (cl *claim) release() error {
	if cl == nil {
		return nil
	}
	return cl.lock.Release()
}

// settings are facts about the GPUs that decide performance or tell one
// machine from another: those of the first, and of others what differs.
func (cl *claim) settings() map[string]string {
	settings := map[string]string{}
	if cl == nil {
		return settings
	}
	for _, fact := range []struct {
		name string
		of   func(hardware.GPU) string
	}{
		{"driver", func(g hardware.GPU) string { return g.Driver }},
		{"cuda", func(g hardware.GPU) string { return g.CUDA }},
		{"gpu_uuid", func(g hardware.GPU) string { return g.UUID }},
		{"gpu_power_limit_watts", func(g hardware.GPU) string { return text(g.PowerLimitWatts) }},
		{"gpu_max_mhz", func(g hardware.GPU) string { return text(g.MaxClockMHz) }},
		{"gpu_persistence", func(g hardware.GPU) string { return g.Persistence }},
		{"gpu_mig", func(g hardware.GPU) string { return g.MIG }},
	} {
		var values []string
		for _, g := range cl.gpus {
			if value := fact.of(g); value != "" && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		if len(values) > 0 {
			settings[fact.name] = strings.Join(values, ",")
		}
	}
	return settings
}

func text(n engines.Count) string {
	if !n.Known {
		return ""
	}
	return strconv.Itoa(n.N)
}

// Sample reads the GPUs of this host that the server computes on, as
// engines.Sampler; where it computes on none that can be read there are none.
func (s *Server) Sample(ctx context.Context) ([]engines.Device, error) {
	if s.claim == nil || s.claim.reader == nil || s.Process() == nil {
		return nil, nil
	}
	readings, err := s.claim.reader.Read(ctx, s.claim.uuids())
	if err != nil {
		return nil, err
	}
	var devices []engines.Device
	for _, r := range readings {
		devices = append(devices, r.Device)
	}
	return devices, nil
}
