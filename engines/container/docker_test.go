//go:build docker

package container

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/vllm"
	"github.com/openloop-go/openloop/fixtures"
)

// A container is measured as any server is: flushed, proved cold, and started
// again between runs.
func TestMeasureAContainer(t *testing.T) {
	t.Setenv("OPENLOOP_ARTIFACTS", t.TempDir())
	cfg := configuration(t)
	cfg.Hardware = ""
	engine := vllm.Start(t, cfg)
	runs := benchtest.Measure(t, engine, benchtest.Point{
		Workload: fixtures.Lengths{Prompt: fixtures.Fixed(128), Output: fixtures.Fixed(16)},
		Arrivals: arrival.Poisson{Rate: 8}, Requests: 40, Warmup: 10, Settle: 10,
		Runs: 2, Starts: 2, Drain: 10 * time.Second,
		Limits: benchtest.Limits{Lag: 250 * time.Millisecond}, // whatever else this host does
	})
	events, err := engine.(*vllm.Server).CompileEvents(t.Context())
	if err != nil || !events.Known {
		t.Errorf("its log tells of no compilations: %+v, %v", events, err)
	}
	if len(runs.Records) != 2 {
		t.Fatalf("%d runs", len(runs.Records))
	}
	for i, r := range runs.Records {
		for _, problem := range r.Problems {
			t.Errorf("run %d: %s", i+1, problem.Text)
		}
		if r.Flush != string(engines.Flushed) || r.CacheProof != "requests" {
			t.Errorf("run %d: flush %s, coldness proved by %q", i+1, r.Flush, r.CacheProof)
		}
		recorded := map[string]string{}
		for _, pair := range r.Identity {
			recorded[pair.Key] = pair.Value
		}
		t.Logf("run %d: start %d, %v", i+1, r.Start, recorded)
	}
}

// No two containers share a port, and nobody but this host reaches one.
func TestEachContainerHasAPortOfItsOwn(t *testing.T) {
	one, other := start(t, configuration(t)), start(t, configuration(t))
	if one.URL() == other.URL() {
		t.Fatalf("both at %s", one.URL())
	}
	for _, c := range listed(t, self()) {
		inspected, err := testDaemon(t).client.ContainerInspect(t.Context(), c.ID, client.ContainerInspectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for port, bindings := range inspected.Container.NetworkSettings.Ports {
			if len(bindings) != 1 || !bindings[0].HostIP.IsLoopback() {
				t.Errorf("port %s of %s is published at %v", port, short(c.ID), bindings)
			}
		}
	}
	for _, e := range []*vllm.Server{one, other} {
		if f, err := e.Flush(t.Context()); err != nil || f.Outcome != engines.Flushed {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

// What the daemon and the image themselves say.
func TestRealFailures(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*vllm.Config)
		want   string // a pattern
	}{
		{"an image that is nowhere", func(c *vllm.Config) { c.Image = "openloop.invalid/vllm:none" },
			`^start vllm: image "openloop\.invalid/vllm:none" is not here and cannot be pulled \(.+\): correct Config\.Image, build or load the image, or log in to its registry \(docker login\)$`},
		{"another program's arguments", func(c *vllm.Config) { c.Args = []string{"--no-such-flag"} },
			`(?s)^start vllm: container exited with code 2 after \S+, log in \S+; its last lines:\n.*flag provided but not defined: -no-such-flag.*\nthe server does not know one of the arguments: check Config\.Args against its version$`},
		{"a program that the image has not", func(c *vllm.Config) { c.Command = []string{"vllm", "serve"} },
			`^start vllm: image "openloop-sim:test" cannot run its program \(.*"vllm": executable file not found.*\): correct Config\.Image or Config\.Command$`},
		{"a server of another kind", func(c *vllm.Config) { c.Command = []string{"/openloop", "sim", "-flavor", "sglang"} },
			`(?s)^start vllm: http://127\.0\.0\.1:\d+ \(the server just started\) is a server of kind sglang, want vllm: Config\.Command or Config\.Image starts something else than its package is for, log in `},
		{"GPUs where there are none", func(c *vllm.Config) { c.GPUs = "all" },
			`^start vllm: the Docker daemon cannot give the container GPUs "all" \(.+\)\nno usable GPU: run where there is one, with the NVIDIA container toolkit installed, or set `},
		{"a folder that is not there", func(c *vllm.Config) { c.Mounts = []launch.Mount{{Source: "/nowhere-at-all", Target: "/w"}} },
			`^start vllm: a folder cannot be mounted \(.*bind source path does not exist: /nowhere-at-all\): correct Config\.Mounts$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := configuration(t)
			test.change(&cfg)
			_, stop, err := vllm.Launch(t.Context(), cfg)
			if err == nil {
				_ = stop(t.Context())
				t.Fatal("started")
			}
			if !regexp.MustCompile(test.want).MatchString(err.Error()) {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
			if left := listed(t, self()); len(left) != 0 {
				t.Errorf("%d containers left", len(left))
			}
		})
	}
}

// The kernel kills what takes more than its container may have, and Docker
// tells.
func TestOutOfMemory(t *testing.T) {
	launcher := Launcher{Image: image, Configure: func(_ *container.Config, h *container.HostConfig) {
		h.Memory, h.MemorySwap = 16<<20, 16<<20
	}}
	running, err := launcher.Launch(t.Context(), launch.Spec{
		Name: "vllm", Grace: time.Second, Log: io.Discard,
		Args: func(at launch.Place) []string { return []string{"m", "-host", at.Host, "-port", strconv.Itoa(at.Port)} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop(context.WithoutCancel(t.Context()))
	once := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	prompt := `{"model":"m","prompt":[` + strings.Repeat("1,", 20<<20) + `1]}`
	for ended := false; !ended; {
		if r, err := once.Post(running.URL+"/v1/completions", "application/json", strings.NewReader(prompt)); err == nil {
			_ = r.Body.Close()
		}
		select {
		case <-running.Done:
			ended = true
		case <-time.After(100 * time.Millisecond): // it may not listen yet
		case <-t.Context().Done():
			t.Fatal("it lives")
		}
	}
	if got, want := running.Ended(), "container exited with code 137 (out of memory)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The same image behind the other protocol.
func TestSGLangInAContainer(t *testing.T) {
	engine, stop, err := sglang.Launch(t.Context(), sglang.Config{
		Model: "m", Launcher: Launcher{Image: image}, Command: []string{"/openloop", "sim", "-flavor", "sglang"},
		APIKey: "sesame-open", LogFile: t.TempDir() + "/log",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t.Context())
	id, err := engine.(*sglang.Server).Describe(t.Context())
	if err != nil || id.Model != "m" || strings.Contains(id.Command, "sesame") {
		t.Errorf("%+v, %v", id, err)
	}
	if f, err := engine.(engines.Flusher).Flush(t.Context()); err != nil || f.Outcome != engines.Flushed {
		t.Errorf("%+v, %v", f, err)
	}
}
