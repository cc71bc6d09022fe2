//go:build unix

package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/openloop-go/openloop/engines"
)

// stand puts a script in the place of nvidia-smi. It knows the fields that the
// test says, and answers a question for them with the lines of the file.
func stand(t *testing.T, script string) Reader {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	r, err := findProgram()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProgram(t *testing.T) {
	known := engines.Known
	tests := []struct {
		name    string
		script  string
		devices []Device
		read    []Reading
	}{
		{"a driver of today", `
case "$*" in
*index*) cat <<'END'
0, GPU-aaaa, NVIDIA H200, 580.65.06, 700.00, 1980, Enabled, Disabled
1, GPU-bbbb, NVIDIA H200, 580.65.06, [N/A], 1980, Disabled, [N/A]
END
;;
*clocks_throttle_reasons*--id=GPU-bbbb,GPU-aaaa*) cat <<'END'
GPU-aaaa, 1755, 3201, 64, 431.60, 58174, 143771, 0x0000000000000024
GPU-bbbb, 345, 3201, 30, [Not Supported], 0, 143771, 0x0000000000000001
END
;;
*) echo 'Field "x" is not a valid field to query.'; exit 2;;
esac`,
			[]Device{
				{Index: "0", UUID: "GPU-aaaa", Model: "NVIDIA H200", Driver: "580.65.06", PowerLimitWatts: known(700), MaxClockMHz: known(1980), Persistence: "on", MIG: "off"},
				{Index: "1", UUID: "GPU-bbbb", Model: "NVIDIA H200", Driver: "580.65.06", MaxClockMHz: known(1980), Persistence: "off"},
			},
			[]Reading{
				{Device: engines.Device{ID: "GPU-bbbb", ClockMHz: known(345), MemoryClockMHz: known(3201), Celsius: known(30), Throttles: engines.Throttles{Known: true}}, Used: 0, Total: 143771 << 20},
				{Device: engines.Device{ID: "GPU-aaaa", ClockMHz: known(1755), MemoryClockMHz: known(3201), Celsius: known(64), Watts: known(432),
					Throttles: engines.Throttles{Known: true, Reasons: []engines.Throttle{engines.ThrottleHeat, engines.ThrottlePowerLimit}}}, Used: 58174 << 20, Total: 143771 << 20},
			}},
		{"one that knows no MIG and only new names", `
case "$*" in
*mig*|*throttle*) echo 'Field "x" is not a valid field to query.'; exit 2;;
*index*) printf '0, GPU-aaaa, T, 1, 9, 9, Enabled\n1, GPU-bbbb, T, 1, 9, 9, Enabled\n';;
*clocks_event_reasons*) printf 'GPU-aaaa, 1, 2, 3, 4, 5, 6, 0x80\nGPU-bbbb, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n';;
esac`,
			[]Device{
				{Index: "0", UUID: "GPU-aaaa", Model: "T", Driver: "1", PowerLimitWatts: known(9), MaxClockMHz: known(9), Persistence: "on"},
				{Index: "1", UUID: "GPU-bbbb", Model: "T", Driver: "1", PowerLimitWatts: known(9), MaxClockMHz: known(9), Persistence: "on"},
			},
			[]Reading{
				{Device: engines.Device{ID: "GPU-bbbb"}},
				{Device: engines.Device{ID: "GPU-aaaa", ClockMHz: known(1), MemoryClockMHz: known(2), Celsius: known(3), Watts: known(4),
					Throttles: engines.Throttles{Known: true, Reasons: []engines.Throttle{engines.ThrottlePowerBrake}}}, Used: 5 << 20, Total: 6 << 20},
			}},
		{"one that knows no reasons", `
case "$*" in
*throttle*|*event*) echo 'Field "x" is not a valid field to query.'; exit 2;;
*index*) printf '0, GPU-aaaa, T, 1, 9, 9, Enabled, Enabled\n';;
*) printf 'GPU-aaaa, 1, 2, 3, 4, 5, 6\nGPU-bbbb, 1, 2, 3, 4, 5, 6\n';;
esac`,
			[]Device{{Index: "0", UUID: "GPU-aaaa", Model: "T", Driver: "1", PowerLimitWatts: known(9), MaxClockMHz: known(9), Persistence: "on", MIG: "on"}},
			[]Reading{
				{Device: engines.Device{ID: "GPU-bbbb", ClockMHz: known(1), MemoryClockMHz: known(2), Celsius: known(3), Watts: known(4)}, Used: 5 << 20, Total: 6 << 20},
				{Device: engines.Device{ID: "GPU-aaaa", ClockMHz: known(1), MemoryClockMHz: known(2), Celsius: known(3), Watts: known(4)}, Used: 5 << 20, Total: 6 << 20},
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := stand(t, test.script)
			if got, err := r.List(t.Context()); err != nil || !reflect.DeepEqual(got, test.devices) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, test.devices)
			}
			if got, err := r.Read(t.Context(), []string{"GPU-bbbb", "GPU-aaaa"}); err != nil || !reflect.DeepEqual(got, test.read) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, test.read)
			}
		})
	}
}

func TestProgramThatCannotTell(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"no driver", `echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."; echo more; exit 9`,
			"nvidia-smi: exit status 9: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."},
		{"another device", `echo 'GPU-bbbb, 1, 2, 3, 4, 5, 6, 0x0'`, "nvidia-smi says nothing of GPU-aaaa"},
		{"another table", `echo 'GPU-aaaa, 1'`, `nvidia-smi answered "GPU-aaaa, 1" to a question for 7 fields`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := stand(t, test.script).Read(t.Context(), []string{"GPU-aaaa"})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := findProgram(); !errors.Is(err, ErrNone) {
		t.Errorf("no program: %v", err)
	}
}

func TestThrottles(t *testing.T) {
	tests := []struct {
		name string
		mask uint64
		want []engines.Throttle
	}{
		{"none", 0, nil},
		{"idle is none", 0x1, nil},
		{"software's heat", 0x20, []engines.Throttle{engines.ThrottleHeat}},
		{"hardware's heat", 0x48, []engines.Throttle{engines.ThrottleHeat}},
		{"power brake", 0x88, []engines.Throttle{engines.ThrottlePowerBrake}},
		{"hardware without a why", 0x08, []engines.Throttle{engines.ThrottleHardware}},
		{"what is set", 0x116, []engines.Throttle{engines.ThrottlePowerLimit, engines.ThrottleSync, engines.ThrottleSetting}},
		{"the board", 0x600, []engines.Throttle{engines.ThrottleBoard}},
		{"a bit of the future", 1<<40 | 0x4, []engines.Throttle{engines.ThrottlePowerLimit, engines.ThrottleOther}},
	}
	for _, test := range tests {
		if got := throttles(test.mask); !got.Known || !reflect.DeepEqual(got.Reasons, test.want) {
			t.Errorf("%s: got %+v, want %v", test.name, got, test.want)
		}
	}
}
