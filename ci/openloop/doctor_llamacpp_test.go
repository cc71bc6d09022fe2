//go:build llamacpp

package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
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

func TestDoctorOnLlamaServer(t *testing.T) {
	unset(t)
	flushable := []string{"--metrics", "--cache-ram", "0", "--slot-save-path", t.TempDir()}
	for _, row := range []struct {
		name   string
		args   []string
		proxy  func(*testing.T, string) string
		status int
		want   string // "status name"
	}{
		{"with what a measurement needs", flushable, nil, exitOK, "ok flush"},
		{"as it starts by itself", nil, nil, exitOK, "warn metrics"},
		{"without slots and metrics", []string{"--no-slots"}, nil, exitOK, "warn queue-gauges"},
		{"behind a buffering proxy", []string{"--metrics"}, buffering, exitNegative, "fault buffering"},
		{"behind a gateway that takes usage away", []string{"--metrics"}, usageOff, exitNegative, "fault usage"},
		{"behind a proxy that answers the flush", flushable, lyingFlush, exitOK, "warn flush"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := startLlama(t, row.args...)
			if row.proxy != nil {
				root = row.proxy(t, root)
			}
			named(t, row.status, row.want, root, "-kind", "llamacpp", "-patience", "2m")
		})
	}
}
