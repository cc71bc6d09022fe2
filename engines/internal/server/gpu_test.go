//go:build unix

package server

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/gpu"
	"github.com/openloop-go/openloop/engines/internal/lock"
	"github.com/openloop-go/openloop/engines/launch"
)

// standInSMI stands for nvidia-smi on a host with two GPUs. The file has what
// the first has in use, in MiB.
func standInSMI(t *testing.T) (used string) {
	t.Helper()
	t.Cleanup(gpu.AskProgram())
	dir := t.TempDir()
	used = filepath.Join(dir, "used")
	script := `#!/bin/sh
case "$*" in
*index*) cat <<'END'
0, GPU-aaaa, NVIDIA H200, 580.65.06, 700.00, 1980, Enabled, Disabled
1, GPU-bbbb, NVIDIA H200, 580.65.06, 600.00, 1980, Enabled, Disabled
END
;;
*)
	read mib <'` + used + `'
	echo "GPU-aaaa, 1755, 3201, 64, 431.60, $mib, 143771, 0x4"
	case "$*" in *GPU-bbbb*) echo "GPU-bbbb, 1755, 3201, 64, 431.60, 4, 143771, 0x0";; esac
esac
`
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	inUse(t, used, 400)
	return used
}

func inUse(t *testing.T, file string, mib int) {
	t.Helper()
	if err := os.WriteFile(file, fmt.Appendln(nil, mib), 0o600); err != nil {
		t.Error(err)
	}
}

func TestServerOnAGPU(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1")
	used := standInSMI(t)
	kind := testKind()
	kind.Devices = func(settings map[string]string) int { return len(settings["tensor_parallel_size"]) }

	// The other test binary is on the other GPU.
	another(t, lock.GPU("GPU-bbbb"))
	f := &onLog{fake: &fake{TB: t}}
	s, err := start(f, kind, launch.Config{Model: "m", Args: []string{"-tp", "1"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.logs) != 1 {
		t.Errorf("logs %q", f.logs)
	}
	want := map[string]string{
		"tensor_parallel_size": "1", "driver": "580.65.06", "gpu_uuid": "GPU-aaaa", "gpu_power_limit_watts": "700",
		"gpu_max_mhz": "1980", "gpu_persistence": "on", "gpu_mig": "off",
	}
	if got := s.Identity().Settings; !reflect.DeepEqual(got, want) {
		t.Errorf("settings %v\nwant %v", got, want)
	}
	devices, err := s.Sample(t.Context())
	if err != nil || len(devices) != 1 || devices[0].ID != "GPU-aaaa" || devices[0].ClockMHz != engines.Known(1755) ||
		!reflect.DeepEqual(devices[0].Throttles, engines.Throttles{Known: true, Reasons: []engines.Throttle{engines.ThrottlePowerLimit}}) {
		t.Errorf("devices %+v, %v", devices, err)
	}

	// The driver takes a second to give the memory of the server back.
	inUse(t, used, 130000)
	time.AfterFunc(time.Second, func() { inUse(t, used, 420) })
	began := time.Now()
	f.cleanups[0]()
	if took := time.Since(began); took < time.Second {
		t.Errorf("stopped after %v, before the memory was free", took)
	}
	if len(f.errors) > 0 || len(f.logs) != 2 ||
		f.logs[1] != "vllm: waiting for GPU memory: 127.0 GiB of 140.4 GiB of GPU-aaaa, 0.4 GiB without it" {
		t.Errorf("errors %q, logs %q", f.errors, f.logs)
	}
}

// Two GPUs of one kind that differ are told apart.
func TestSettingsOfSeveralGPUs(t *testing.T) {
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	standInSMI(t)
	k := testKind()
	c, err := k.resolve(t.Context(), launch.Config{Model: "m", GPUs: "1,0"})
	if err != nil {
		t.Fatal(err)
	}
	cl, err := k.claim(t.Context(), c, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.release()
	got := cl.settings()
	if got["gpu_uuid"] != "GPU-bbbb,GPU-aaaa" || got["gpu_power_limit_watts"] != "600,700" || got["driver"] != "580.65.06" {
		t.Errorf("settings %v", got)
	}
}

// Two servers that are measured in turns may share a GPU: what the other has in
// use is not waited for.
func TestTwoServersShareAGPU(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	used := standInSMI(t)
	f := &onLog{fake: &fake{TB: t}}
	for _, mib := range []int{60000, 120000} {
		if _, err := start(f, testKind(), launch.Config{Model: "m"}); err != nil {
			t.Fatal(err)
		}
		inUse(t, used, mib)
	}
	f.cleanups[0]()
	inUse(t, used, 60000) // it has given back what it had
	f.cleanups[1]()
	if len(f.errors) > 0 || len(f.logs) != 2 {
		t.Errorf("errors %q, logs %q", f.errors, f.logs)
	}
	for uuid, n := range occupants.of {
		if n != 0 {
			t.Errorf("%d servers are still counted on %s", n, uuid)
		}
	}
}
