package doctor_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/internal/proxyenv"
	"github.com/openloop-go/openloop/engines/sim"
)

// Over TCP the client is the one that a test would measure with, and the
// environment, which would send it elsewhere, is left aside.
func TestServerOverTCP(t *testing.T) {
	server, err := sim.NewServer(sim.Config{DevMode: true, Noise: sim.Quiet, APIKey: "sesame-open"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	for name, value := range map[string]string{
		"OPENLOOP_MODEL": "another", "OPENLOOP_API_KEY": "another", "OPENLOOP_ENGINE_URL": "http://127.0.0.1:1", "OPENLOOP_VLLM_URL": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	report, err := doctor.Examine(t.Context(), doctor.Config{URL: "http://" + listener.Addr().String(), APIKey: "sesame-open"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reach", "kind", "model", "token-ids", "usage", "cancel"} {
		if f := report.Find(name); f.Status != doctor.OK {
			t.Errorf("%s: %q", name, f)
		}
	}
	if report.Stopped || report.Verdict() == doctor.Unreachable || report.Find("attach").Status == doctor.Fault {
		t.Errorf("%s", text(report))
	}
}

// The client says what it only knows where it dials itself.
func TestProxyThatNobodyAskedFor(t *testing.T) {
	for _, name := range slices.Concat(proxyenv.Names, proxyenv.Excluding) {
		t.Setenv(name, "")
	}
	t.Setenv("HTTP_PROXY", "http://user:sesame-open@127.0.0.1:1")
	host := strings.Repeat("x", 64) + ".invalid" // no name, so nobody is asked for it
	report, err := doctor.Examine(t.Context(), doctor.Config{URL: "http://" + host})
	if err != nil {
		t.Fatal(err)
	}
	got := report.Find("reach").String()
	if !strings.Contains(got, " (HTTP_PROXY is set and is not used: set Config.Proxy if the server is behind it)") || strings.Contains(got, "sesame") {
		t.Errorf("got %s", got)
	}
}
