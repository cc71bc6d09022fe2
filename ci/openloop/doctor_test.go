package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/doctor"
)

// examined is what the verb prints of a server, by JSON and in text.
func examined(t *testing.T, args ...string) (status int, verdict string, findings map[string]doctor.Finding) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = doctorVerb(append([]string{"-json"}, args...), &stdout, &stderr)
	var report struct {
		Verdict  string
		Findings []doctor.Finding
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	findings = map[string]doctor.Finding{}
	for _, f := range report.Findings {
		findings[f.Name] = f
	}
	return status, report.Verdict, findings
}

// unset takes the variables that the verb reads out of the environment.
func unset(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OPENLOOP_API_KEY", "OPENLOOP_MODEL"} {
		t.Setenv(name, "")
	}
}

// buffering serves a reverse proxy that holds streams back.
func buffering(t *testing.T, behind string) string {
	t.Helper()
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				b, err := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(b))
				return err
			}
			return nil
		},
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server.URL
}

// Over a real port, by the flags of openloop sim: one planted fault each is
// named, and decides the exit status.
func TestDoctorNamesThePlantedFault(t *testing.T) {
	unset(t)
	for _, row := range []struct {
		name     string
		flags    []string
		buffered bool
		status   int
		fault    string // "status name"
	}{
		{"vllm as it should be", []string{"-dev-mode"}, false, exitOK, "ok flush"},
		{"vllm without development mode", nil, false, exitOK, "warn development-mode"},
		{"vllm behind a buffering proxy", []string{"-dev-mode"}, true, exitNegative, "fault buffering"},
		{"vllm without usage", []string{"-dev-mode", "-no-usage"}, false, exitNegative, "fault usage"},
		{"vllm with a flush that lies", []string{"-dev-mode", "-flush-lies"}, false, exitNegative, "fault flush"},
		{"vllm that counts wrong", []string{"-dev-mode", "-miscount", "-0.25"}, false, exitNegative, "fault token-counts"},
		{"sglang as it should be", []string{"-flavor", "sglang"}, false, exitOK, "ok flush"},
		{"sglang without metrics", []string{"-flavor", "sglang", "-no-metrics"}, false, exitOK, "warn metrics"},
	} {
		t.Run(row.name, func(t *testing.T) {
			url, _ := startSim(t, append([]string{"-addr", "127.0.0.1:0", "-quiet"}, row.flags...)...)
			if row.buffered {
				url = buffering(t, url)
			}
			status, verdict, findings := examined(t, url)
			want, name, _ := strings.Cut(row.fault, " ")
			if status != row.status || string(findings[name].Status) != want {
				t.Errorf("exit status %d (%s), %v; want %d, %s\nall: %v", status, verdict, findings[name], row.status, row.fault, findings)
			}
			for name, f := range findings {
				if f.Status == doctor.Fault && row.fault != "fault "+name {
					t.Errorf("also %v", f)
				}
			}
		})
	}
}

// What is printed while the findings are made, and the last line.
func TestDoctorText(t *testing.T) {
	unset(t)
	t.Setenv("OPENLOOP_API_KEY", "sesame-open")
	url, _ := startSim(t, "-addr", "127.0.0.1:0", "-quiet", "-api-key", "$OPENLOOP_API_KEY")
	var stdout, stderr bytes.Buffer
	status := doctorVerb([]string{strings.Replace(url, "//", "//user:sesame-shut@", 1), "-kind", "vllm"}, &stdout, &stderr)
	if status != exitOK {
		t.Errorf("exit status %d", status)
	}
	lines := strings.Split(strings.TrimRight(stdout.String(), "\n"), "\n")
	for _, want := range []string{
		"ok       kind              vllm",
		"warn     development-mode  off: /reset_prefix_cache is not there, so the prefix cache cannot be flushed",
		"                           → start the server with VLLM_SERVER_DEV_MODE=1 in its environment",
		"ok       output-length     32 of 32, with ignore_eos and min_tokens",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, stdout.String())
		}
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "measurable: warn ") || !strings.Contains(last, "development-mode") || !strings.Contains(last, "flush") {
		t.Errorf("last line %q", last)
	}
	if want := "openloop doctor: " + strings.Replace(url, "//", "//user:xxxxx@", 1) + " is sent about 15 generations"; !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("on stderr %q, want %q", stderr.String(), want)
	}
	if all := stdout.String() + stderr.String(); strings.Contains(all, "sesame") {
		t.Errorf("a secret in\n%s", all)
	}
}
