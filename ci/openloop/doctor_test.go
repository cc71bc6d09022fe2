package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/openai"
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

// Over a real port, by the flags of openloop sim: one planted fault each is
// named, and decides the exit status.
func TestDoctorNamesThePlantedFault(t *testing.T) {
	unset(t)
	for _, row := range []struct {
		name   string
		flags  []string
		proxy  func(*testing.T, string) string
		status int
		want   string // "status name"
	}{
		{"vllm as it should be", []string{"-dev-mode"}, nil, exitOK, "ok flush"},
		{"vllm without development mode", nil, nil, exitOK, "warn development-mode"},
		{"vllm behind a buffering proxy", []string{"-dev-mode"}, buffering, exitNegative, "fault buffering"},
		{"vllm behind a proxy that passes on four events at a time", []string{"-dev-mode", "-decode-slowdown", "4"}, batching(4), exitOK, "warn buffering"},
		{"vllm behind a proxy that passes on eight", []string{"-dev-mode", "-decode-slowdown", "4"}, batching(8), exitNegative, "fault buffering"},
		{"vllm that stalls", []string{"-dev-mode", "-decode-slowdown", "4", "-stall-every", "100ms", "-stall-for", "400ms"}, nil, exitOK, "warn stalls"},
		{"vllm without usage", []string{"-dev-mode", "-no-usage"}, nil, exitNegative, "fault usage"},
		{"vllm behind a gateway that takes usage away", []string{"-dev-mode"}, usageOff, exitNegative, "fault usage"},
		{"vllm with a flush that lies", []string{"-dev-mode", "-flush-lies"}, nil, exitNegative, "fault flush"},
		{"vllm that counts wrong", []string{"-dev-mode", "-miscount", "-0.25"}, nil, exitNegative, "fault token-counts"},
		{"sglang as it should be", []string{"-flavor", "sglang"}, nil, exitOK, "ok flush"},
		{"sglang without metrics", []string{"-flavor", "sglang", "-no-metrics"}, nil, exitOK, "warn metrics"},
		{"tensorrt_llm as it is", []string{"-flavor", "tensorrt_llm"}, nil, exitOK, "warn flush"},
		{"tensorrt_llm behind a buffering proxy", []string{"-flavor", "tensorrt_llm"}, buffering, exitNegative, "fault buffering"},
		{"sglang behind a proxy that answers the flush", []string{"-flavor", "sglang"}, lyingFlush, exitNegative, "fault flush"},
	} {
		t.Run(row.name, func(t *testing.T) {
			url, _ := startSim(t, append([]string{"-addr", "127.0.0.1:0", "-quiet"}, row.flags...)...)
			if row.proxy != nil {
				url = row.proxy(t, url)
			}
			if strings.HasSuffix(row.want, " buffering") || strings.HasSuffix(row.want, " stalls") {
				readsInTime(t, url)
			}
			named(t, row.status, row.want, url)
		})
	}
}

// readsInTime skips the test where this host is too busy to tell when events
// came, as the doctor says of it.
func readsInTime(t *testing.T, url string) {
	t.Helper()
	for range 5 {
		_, _, findings := examined(t, "-keep-cache", url)
		f := findings["buffering"]
		if !strings.Contains(f.Remedy, "when this host has less to do") {
			return
		}
		t.Log(f)
	}
	t.Skip("this host reads too late to tell")
}

// named runs the verb, which must end with a status, have the finding wanted,
// "status name", and no fault beside it.
func named(t *testing.T, status int, want string, args ...string) {
	t.Helper()
	got, verdict, findings := examined(t, args...)
	for _, name := range slices.Sorted(maps.Keys(findings)) {
		f := findings[name]
		t.Log(f)
		if f.Status == doctor.Fault && want != "fault "+name {
			t.Errorf("unexpected: %v", f)
		}
	}
	s, name, _ := strings.Cut(want, " ")
	if got != status || string(findings[name].Status) != s {
		t.Errorf("exit status %d (%s), %q %s; want %d, %s", got, verdict, findings[name].Status, name, status, want)
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
	if want := "openloop doctor: " + url + " is sent about 15 generations"; !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("on stderr %q, want %q", stderr.String(), want)
	}
	if all := stdout.String() + stderr.String(); strings.Contains(all, "sesame") {
		t.Errorf("a secret in\n%s", all)
	}
}

// A server that is being measured is sent nothing, and is looked at with
// -regardless.
func TestDoctorLeavesAMeasurementAlone(t *testing.T) {
	unset(t)
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	url, _ := startSim(t, "-addr", "127.0.0.1:0", "-quiet", "-dev-mode")
	engine, err := openai.New(openai.Config{URL: strings.Replace(url, "127.0.0.1", "0.0.0.0", 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	release, err := engine.Hold(t.Context(), "TestDecode", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var stdout, stderr bytes.Buffer
	status := doctorVerb([]string{url}, &stdout, &stderr)
	_, said, _ := strings.Cut(stderr.String(), "\n")
	want := "openloop doctor: doctor: a measurement is running on this server: " + url + ", which TestDecode of this process measures: " +
		"wait until it has ended, or go on regardless (Config.Regardless; openloop doctor -regardless) and disturb it\n"
	if status != exitUnusable || stdout.Len() > 0 || said != want {
		t.Errorf("exit status %d, %s\ngot  %s\nwant %s", status, stdout.String(), said, want)
	}
	named(t, exitOK, "warn measurement", "-regardless", url)
}
