//go:build sglang

package main

import (
	"context"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"testing"

	"github.com/openloop-go/openloop/engines/sglang"
)

// startSGLang runs the real SGLang on the processor, with a model of random
// weights, until the test ends, and returns its URL.
func startSGLang(t *testing.T) string {
	t.Helper()
	python, model := os.Getenv("OPENLOOP_SGLANG_PYTHON"), os.Getenv("OPENLOOP_SGLANG_MODEL")
	if python == "" || model == "" {
		t.Fatal("set OPENLOOP_SGLANG_PYTHON to a python with SGLang and OPENLOOP_SGLANG_MODEL to a model's folder: .ci/real-sglang does")
	}
	var cfg sglang.Config
	cfg.Model, cfg.Command = model, []string{python, "-m", "sglang.launch_server"}
	cfg.Args = []string{"--device", "cpu", "--load-format", "dummy", "--max-total-tokens", "65536", "--sleep-on-idle"}
	cfg.Env = []string{"SGLANG_USE_CPU_ENGINE=1", "HF_HUB_OFFLINE=1"}
	cfg.LogFile = filepath.Join(t.TempDir(), "sglang.log")
	engine, stop, err := sglang.Launch(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop(context.WithoutCancel(t.Context())) })
	return engine.(*sglang.Server).URL()
}

// unmeasured hides the page of metrics, as a server started without
// --enable-metrics does.
func unmeasured(t *testing.T, behind string) string {
	return proxy(t, behind, func(p *httputil.ReverseProxy) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				http.NotFound(w, r)
				return
			}
			p.ServeHTTP(w, r)
		})
	})
}

func TestDoctorOnSGLang(t *testing.T) {
	unset(t)
	url := startSGLang(t)
	for _, row := range []struct {
		name   string
		proxy  func(*testing.T, string) string
		status int
		want   string // "status name"
	}{
		{"directly", func(_ *testing.T, url string) string { return url }, exitOK, "ok flush"},
		{"without its metrics", unmeasured, exitOK, "warn metrics"},
		{"behind a buffering proxy", buffering, exitNegative, "fault buffering"},
		{"behind a gateway that takes usage away", usageOff, exitNegative, "fault usage"},
		{"behind a proxy that answers the flush", lyingFlush, exitNegative, "fault flush"},
	} {
		t.Run(row.name, func(t *testing.T) {
			named(t, row.status, row.want, row.proxy(t, url), "-kind", "sglang", "-patience", "2m")
		})
	}
}
