//go:build llamacpp

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/doctor"
)

// startLlama runs the real llama-server until the test ends, and returns its
// URL when it has loaded its model.
func startLlama(t *testing.T, args ...string) string {
	t.Helper()
	server, model := os.Getenv("OPENLOOP_LLAMACPP_SERVER"), os.Getenv("OPENLOOP_LLAMACPP_MODEL")
	if server == "" || model == "" {
		t.Fatal("set OPENLOOP_LLAMACPP_SERVER to a llama-server and OPENLOOP_LLAMACPP_MODEL to a .gguf file: .ci/real-servers does")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, server, append([]string{"--model", model, "--host", "127.0.0.1", "--port", port, "--threads", "1"}, args...)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-died
	})
	root := "http://127.0.0.1:" + port
	for {
		if resp, err := http.Get(root + "/health"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return root
			}
		}
		select {
		case err := <-died:
			died <- err
			t.Fatalf("llama-server: %v\n%s", err, log.String())
		case <-t.Context().Done():
			t.Fatal("llama-server did not load its model in time")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// lyingFlush serves a reverse proxy that answers the flush itself.
func lyingFlush(t *testing.T, behind string) string {
	t.Helper()
	target, _ := url.Parse(behind)
	p := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/slots/") {
			_, _ = io.WriteString(w, `{"id_slot":0,"n_erased":320}`)
			return
		}
		// Read whole: an answer that comes first would close it.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestDoctorOnLlamaServer(t *testing.T) {
	unset(t)
	for _, row := range []struct {
		name   string
		args   []string
		proxy  func(*testing.T, string) string
		status int
		want   map[string]doctor.Status
	}{
		{"with what a measurement needs", []string{"--metrics", "--cache-ram", "0", "--slot-save-path", t.TempDir()}, nil, exitOK,
			map[string]doctor.Status{"cached-tokens": "ok", "cold-requests": "ok", "flush": "ok", "metrics": "ok", "queue-gauges": "ok", "cancel": "ok", "counters": "ok", "token-counts": "ok"}},
		{"as it starts by itself", nil, nil, exitOK,
			map[string]doctor.Status{"cold-requests": "ok", "flush": "ok", "metrics": "warn", "queue-gauges": "ok", "cancel": "ok"}},
		{"without slots and metrics", []string{"--no-slots"}, nil, exitOK,
			map[string]doctor.Status{"routes": "warn", "metrics": "warn", "queue-gauges": "warn", "cancel": "unknown"}},
		{"behind a buffering proxy", []string{"--metrics"}, buffering, exitNegative,
			map[string]doctor.Status{"buffering": "fault"}},
		{"behind a proxy that answers the flush", []string{"--metrics", "--cache-ram", "0", "--slot-save-path", t.TempDir()}, lyingFlush, exitOK,
			map[string]doctor.Status{"flush": "warn", "cold-requests": "ok"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := startLlama(t, row.args...)
			if row.proxy != nil {
				root = row.proxy(t, root)
			}
			status, verdict, findings := examined(t, root, "-kind", "llamacpp", "-patience", "2m")
			var all strings.Builder
			for _, f := range findings {
				fmt.Fprintln(&all, f)
			}
			t.Logf("%s\n%s", verdict, all.String())
			if status != row.status {
				t.Errorf("exit status %d (%s), want %d", status, verdict, row.status)
			}
			for name, want := range row.want {
				if got := findings[name].Status; got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}
