package hardware

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/openloop-go/openloop/engines/internal/gpu"
)

var three = []GPU{
	{Index: "0", UUID: "GPU-aa00", Model: "NVIDIA H200"},
	{Index: "1", UUID: "GPU-bb11", Model: "NVIDIA H200"},
	{Index: "2", UUID: "GPU-cc22", Model: "NVIDIA A100-SXM4-80GB"},
}

func TestNameOfDevices(t *testing.T) {
	set := func(s string) *string { return &s }
	tests := []struct {
		name    string
		visible *string
		used    int
		want    string
	}{
		{"all", nil, 0, "2x NVIDIA H200 + 1x NVIDIA A100-SXM4-80GB"},
		{"the first, as an engine on one device does", nil, 1, "1x NVIDIA H200"},
		{"by index", set("2"), 0, "1x NVIDIA A100-SXM4-80GB"},
		{"by UUID", set("GPU-bb,GPU-cc22"), 0, "1x NVIDIA H200 + 1x NVIDIA A100-SXM4-80GB"},
		{"in the order given", set("2, 0"), 1, "1x NVIDIA A100-SXM4-80GB"},
		{"up to the first that does not exist", set("0,7,1"), 0, "1x NVIDIA H200"},
		{"none", set(""), 0, ""},
		{"none, said by a number", set("-1"), 0, ""},
		{"more used than there are", set("0"), 4, "1x NVIDIA H200"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Name(Visible(three, test.visible), test.used); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestParseLong(t *testing.T) {
	text := "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\nGPU 1: NVIDIA H100 80GB HBM3\nnot a line\n"
	if got, want := Name(ParseLong(text), 0), "2x NVIDIA H100 80GB HBM3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProcessor(t *testing.T) {
	tests := []struct{ in, want string }{
		{"Architecture: x86_64\nCPU(s):   8\nModel name:  Some  CPU @ 2.00GHz\nCPU(s): 9\n", "8 cores Some CPU @ 2.00GHz"},
		{"Model name: Test CPU", ""},
		{"CPU(s): 8\n", ""},
		{"", ""},
	}
	for _, test := range tests {
		if got := Processor(test.in); got != test.want {
			t.Errorf("Processor(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// nvidia-smi is asked as a program, so a program can stand for it.
func TestLocal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	t.Cleanup(gpu.AskProgram())
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	script := "#!/bin/sh\ncat <<'END'\n"
	for _, g := range three {
		script += g.Index + ", " + g.UUID + ", " + g.Model + ", 580.65.06, 700.00, 1980, Enabled, Disabled\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script+"END\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		env     []string
		devices int
		want    string
	}{
		{"the last of a name wins", []string{"CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=2,1"}, 0, "1x NVIDIA A100-SXM4-80GB + 1x NVIDIA H200"},
		{"the first of those visible", []string{"CUDA_VISIBLE_DEVICES=2,1"}, 1, "1x NVIDIA A100-SXM4-80GB"},
		{"more than there are", nil, 8, "2x NVIDIA H200 + 1x NVIDIA A100-SXM4-80GB"},
		{"every device hidden", []string{"CUDA_VISIBLE_DEVICES="}, 0, Host()},
		{"a part of one, whose name is not known", []string{"CUDA_VISIBLE_DEVICES=MIG-1234"}, 0, ""},
	}
	for _, test := range tests {
		if got := Local(t.Context(), test.env, test.devices); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := Select(t.Context(), []string{"CUDA_VISIBLE_DEVICES=MIG-1234"}, 0).GPUs; len(got) != 1 || got[0].UUID != "MIG-1234" {
		t.Errorf("got %+v", got)
	}
}
