//go:build linux && cgo

package gpu

import (
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/openloop-go/openloop/engines"
)

// standIn builds a library that answers as NVML does, so that what is really
// called is what is tested, and a function that a driver has not is missing.
func standIn(t *testing.T, flags ...string) *nvml {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build the stand-in for NVML with")
	}
	path := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	args := append(flags, "-shared", "-fPIC", "-o", path, filepath.Join("testdata", "nvml.c"))
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := load(path)
	if r == nil {
		t.Fatal("it does not load")
	}
	return r
}

func TestLibrary(t *testing.T) {
	known := engines.Known
	first := Device{
		Index: "0", UUID: "GPU-aaaa", Model: "NVIDIA H200", Driver: "580.65.06", CUDA: "13.1",
		PowerLimitWatts: known(700), MaxClockMHz: known(1980), Persistence: "on", MIG: "off",
	}
	second := first
	second.Index, second.UUID, second.PowerLimitWatts = "1", "GPU-bbbb", engines.Count{}
	state := func(id string, clock int, watts engines.Count, why engines.Throttles) Reading {
		return Reading{
			Device: engines.Device{ID: id, ClockMHz: known(clock), MemoryClockMHz: known(3201), Celsius: known(64), Watts: watts, Throttles: why},
			Used:   61000000000, Total: 150754820096,
		}
	}
	tests := []struct {
		name  string
		flags []string
		mig   string
		why   []engines.Throttle
	}{
		{"a driver of today", nil, "off", []engines.Throttle{engines.ThrottleHeat, engines.ThrottlePowerLimit}},
		{"an old driver", []string{"-DOLD"}, "", []engines.Throttle{engines.ThrottleHeat}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := standIn(t, test.flags...)
			a, b := first, second
			a.MIG, b.MIG = test.mig, test.mig
			if got, err := r.List(t.Context()); err != nil || !reflect.DeepEqual(got, []Device{a, b}) {
				t.Errorf("list %+v, %v", got, err)
			}
			want := []Reading{
				state("GPU-bbbb", 1756, engines.Count{}, engines.Throttles{}),
				state("GPU-aaaa", 1755, known(432), engines.Throttles{Known: true, Reasons: test.why}),
			}
			if got, err := r.Read(t.Context(), []string{"GPU-bbbb", "GPU-aaaa"}); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
			_, err := r.Read(t.Context(), []string{"GPU-cccc"})
			if err == nil || err.Error() != "nvml: open device GPU-cccc: not found" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNoLibrary(t *testing.T) {
	if r := load(filepath.Join(t.TempDir(), "libnvidia-ml.so.1")); r != nil {
		t.Error("loaded what is not there")
	}
	if r := load("libc.so.6"); r != nil {
		t.Error("loaded what is another library")
	}
}
