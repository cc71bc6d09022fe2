//go:build vllm

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/vllm"
)

// startVLLM runs the real vLLM, with a model of random weights, until the test
// ends, and returns its URL.
func startVLLM(t *testing.T, env ...string) string {
	t.Helper()
	program, model := os.Getenv("OPENLOOP_VLLM_SERVER"), os.Getenv("OPENLOOP_VLLM_MODEL")
	if program == "" || model == "" {
		t.Fatal("set OPENLOOP_VLLM_SERVER to a vllm program and OPENLOOP_VLLM_MODEL to a model's folder: .ci/real-vllm does")
	}
	var cfg vllm.Config
	cfg.Model, cfg.Command = model, []string{program, "serve"}
	cfg.Args = []string{"--load-format", "dummy", "--max-model-len", "4096"}
	cfg.Env = append([]string{"VLLM_CPU_KVCACHE_SPACE=1", "HF_HUB_OFFLINE=1"}, env...)
	cfg.LogFile = filepath.Join(t.TempDir(), "vllm.log")
	var engine engines.Engine
	engine, stop, err := vllm.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop(context.WithoutCancel(t.Context())) })
	return engine.(*vllm.Server).URL()
}

func TestDoctorOnVLLM(t *testing.T) {
	unset(t)
	ask := func(t *testing.T, status int, want, url string) {
		t.Helper()
		named(t, status, want, url, "-kind", "vllm", "-patience", "2m")
	}
	t.Run("in development mode", func(t *testing.T) {
		url := startVLLM(t)
		for _, row := range []struct {
			name   string
			proxy  func(*testing.T, string) string
			status int
			want   string
		}{
			{"directly", func(_ *testing.T, url string) string { return url }, exitOK, "ok flush"},
			{"behind a buffering proxy", buffering, exitNegative, "fault buffering"},
			{"behind a gateway that takes usage away", usageOff, exitNegative, "fault usage"},
			{"behind a proxy that answers the flush", lyingFlush, exitNegative, "fault flush"},
		} {
			t.Run(row.name, func(t *testing.T) { ask(t, row.status, row.want, row.proxy(t, url)) })
		}
	})
	t.Run("out of development mode", func(t *testing.T) {
		ask(t, exitOK, "warn development-mode", startVLLM(t, "VLLM_SERVER_DEV_MODE=0"))
	})
}
