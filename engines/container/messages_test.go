//go:build !docker

package container

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"

	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/vllm"
)

func TestWhatIsWrongIsSaidInOneSentence(t *testing.T) {
	const log = ", log in LOG; its last lines:\n"
	tests := []struct {
		name   string
		daemon behaviour
		change func(*vllm.Config)
		want   string
	}{
		{"no image named", behaviour{}, func(c *vllm.Config) { c.Image = "" },
			"start vllm: no image is named for the container: set Config.Image\nvllm/vllm-openai:v0.26.0 for instance"},
		{"the image is nowhere", behaviour{absent: true, pulls: []string{`{"errorDetail":{"message":"manifest for fake/vllm:1 not found"}}`}}, nil,
			`start vllm: image "fake/vllm:1" is not here and cannot be pulled (manifest for fake/vllm:1 not found): correct Config.Image, build or load the image, or log in to its registry (docker login)`},
		{"the pull takes the whole budget", behaviour{absent: true, pulls: []string{
			`{"id":"a","status":"Downloading","progressDetail":{"current":3000000000,"total":8000000000}}`,
			`{"id":"b","status":"Downloading","progressDetail":{"current":100000000,"total":400000000}}`, "hang"}},
			func(c *vllm.Config) { c.StartBudget = 200 * time.Millisecond },
			`start vllm: not ready after ~: image "fake/vllm:1" is not here and was being pulled, 3.1 of 8.4 GB in 2 layers; raise Config.StartBudget if it only needs longer` + log +
				"    container: pulling image fake/vllm:1"},
		{"it starts and ends", behaviour{code: 2, prints: "vllm: error: unrecognized arguments: --x\n"}, nil,
			"start vllm: container exited with code 2 ~" + log + "    vllm: error: unrecognized arguments: --x\n" +
				"the server does not know one of the arguments: check Config.Args against its version"},
		{"out of memory", behaviour{code: 137, oom: true, prints: "Loading safetensors checkpoint shards:  25% Completed\n"}, nil,
			"start vllm: container exited with code 137 (out of memory) ~" + log + "    Loading safetensors checkpoint shards:  25% Completed\n" +
				"not enough memory of the host, or of what a container may have of it: free some, or give the server less to hold in Config.Args"},
		{"no GPU was asked for", behaviour{code: 1, prints: "RuntimeError: Failed to infer device type\n"}, nil,
			"start vllm: container exited with code 1 ~" + log + "    RuntimeError: Failed to infer device type\n" +
				`no usable GPU: give the container one with Config.GPUs ("all") on a host that has one, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs`},
		{"the daemon has no GPU", behaviour{startError: `could not select device driver "" with capabilities: [[gpu]]`}, func(c *vllm.Config) { c.GPUs = "all" },
			`start vllm: the Docker daemon cannot give the container GPUs "all" (container start: Error response from daemon: could not select device driver "" with capabilities: [[gpu]])` +
				"\nno usable GPU: run where there is one, with the NVIDIA container toolkit installed, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs"},
		{"the model is not mounted", behaviour{code: 1, prints: "HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/x'\n"}, nil,
			"start vllm: container exited with code 1 ~" + log + "    HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/x'\n" +
				"the model was not found: check Config.Model (a repository's name or a folder as the container sees it: mount it with Config.Mounts)"},
		{"no such program", behaviour{startError: `failed to create shim: exec: "vllm": executable file not found in $PATH: unknown`}, func(c *vllm.Config) { c.Command = []string{"vllm", "serve"} },
			`start vllm: image "fake/vllm:1" cannot run its program (container start: Error response from daemon: failed to create shim: exec: "vllm": executable file not found in $PATH: unknown): correct Config.Image or Config.Command`},
		{"no program at all", behaviour{createError: "no command specified"}, nil,
			`start vllm: image "fake/vllm:1" starts no program by itself: set Config.Command, or another Config.Image`},
		{"a folder that is not there", behaviour{createError: "invalid mount config for type \"bind\": bind source path does not exist: /weights"}, func(c *vllm.Config) { c.Mounts = []launch.Mount{{Source: "/weights", Target: "/w"}} },
			`start vllm: a folder cannot be mounted (container create: Error response from daemon: invalid mount config for type "bind": bind source path does not exist: /weights): correct Config.Mounts`},
		{"a folder of the host's", behaviour{}, func(c *vllm.Config) { c.Dir = "here" },
			`start vllm: Config.Dir "here" is a folder in the container: give an absolute path`},
		{"another model", behaviour{}, func(c *vllm.Config) { c.Model = "another" },
			`start vllm: http://~ (the server just started): it serves "m", want "another": ask for what it serves in Config.Model or OPENLOOP_MODEL, or point the URL elsewhere, log in LOG is empty`},
		{"a bind address that is none", behaviour{}, func(c *vllm.Config) { c.Launcher = Launcher{Bind: "gpu-box"} },
			`start vllm: container.Launcher.Bind must be an IP address, got "gpu-box"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fake.reset(test.daemon)
			cfg := configuration(t)
			if test.change != nil {
				test.change(&cfg)
			}
			_, _, err := vllm.Launch(t.Context(), cfg)
			if err == nil {
				t.Fatal("started")
			}
			got := strings.ReplaceAll(err.Error(), cfg.LogFile, "LOG")
			got = regexp.MustCompile(`after [0-9.]+m?s`).ReplaceAllString(got, "after ~")
			got = strings.ReplaceAll(got, "127.0.0.1:"+fake.port, "~")
			if want := strings.ReplaceAll(test.want, "code 1 ~", "code 1 after ~"); got != strings.NewReplacer("code 2 ~", "code 2 after ~", "memory) ~", "memory) after ~").Replace(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if left := listed(t, owner{}); len(left) != 0 {
				t.Errorf("%d containers left", len(left))
			}
		})
	}
}

// What a configuration asks for is what Docker is asked for.
func TestWhatDockerIsAsked(t *testing.T) {
	fake.reset(behaviour{})
	cfg := configuration(t)
	cfg.GPUs, cfg.ShmSize, cfg.APIKey, cfg.Dir = "0,GPU-5", 8<<30, "sesame-open", "/work"
	cfg.Command, cfg.Args = []string{"vllm", "serve"}, []string{"--enforce-eager"}
	cfg.Mounts = []launch.Mount{{Source: "/weights", Target: "/w", ReadOnly: true}, {Source: "vllm-cache", Target: "/root/.cache/vllm"}}
	cfg.Launcher = Launcher{IPC: "host", Configure: func(c *container.Config, h *container.HostConfig) {
		h.Memory, c.User = 1<<30, "2000:0"
	}}
	e := start(t, cfg)
	var asked createRequest
	for _, c := range fake.containers {
		asked = c.asked
	}
	h := asked.HostConfig
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"ports", marshal(t, h.PortBindings), `{"8000/tcp":[{"HostIp":"127.0.0.1","HostPort":"0"}]}`},
		{"GPUs", h.DeviceRequests, []container.DeviceRequest{{DeviceIDs: []string{"0", "GPU-5"}, Capabilities: [][]string{{"gpu"}}}}},
		{"shared memory", h.ShmSize, int64(8 << 30)},
		{"IPC", h.IpcMode, container.IpcMode("host")},
		{"memory", h.Memory, int64(1 << 30)},
		{"user", asked.User, "2000:0"},
		{"log", h.LogConfig.Type, "json-file"},
		{"folder", asked.WorkingDir, "/work"},
		{"program", strings.Join(asked.Entrypoint, " "), "vllm serve"},
		{"arguments", strings.Join(asked.Cmd, " "), "m --host 0.0.0.0 --port 8000 --enable-prompt-tokens-details --enforce-eager"},
		{"mounts", h.Mounts, []mount.Mount{
			{Type: mount.TypeBind, Source: "/weights", Target: "/w", ReadOnly: true},
			{Type: mount.TypeVolume, Source: "vllm-cache", Target: "/root/.cache/vllm"}}},
		{"owner", asked.Labels[ownerLabel], self().String()},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s: got %+v, want %+v", check.what, check.got, check.want)
		}
	}
	id, err := e.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const line = `docker run --rm -p 127.0.0.1::8000 --gpus '"device=0,GPU-5"' --shm-size 8589934592 -v /weights:/w:ro -v vllm-cache:/root/.cache/vllm ` +
		`-e VLLM_SERVER_DEV_MODE -e VLLM_API_KEY -w /work --entrypoint vllm fake/vllm:1 serve m --host 0.0.0.0 --port 8000 --enable-prompt-tokens-details --enforce-eager`
	if id.Command != line {
		t.Errorf("got  %s\nwant %s", id.Command, line)
	}
	want := map[string]string{
		"enforce_eager": "true", "gpus": "0,GPU-5", "image": "fake/vllm:1", "image_digest": "fake/vllm@sha256:beef",
		"container.memory": "1073741824", "container.shm_size": "8589934592", "container.ipc": "host",
	}
	if !reflect.DeepEqual(id.Settings, want) {
		t.Errorf("settings %v", id.Settings)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Only what is known to be left is removed.
func TestReapLeavesTheRestAlone(t *testing.T) {
	me := self()
	dead := me
	dead.pid, dead.started = os.Getpid(), "1" // this pid, at another time
	rebootedRunning, rebootedExited, elsewhere, otherNamespace := me, me, dead, dead
	rebootedRunning.boot, rebootedExited.boot = "before", "before"
	elsewhere.machine, otherNamespace.namespace = "another", "4026531999"
	fake.reset(behaviour{})
	for id, c := range map[string]*fakeContainer{
		"aaaaaaaaaaaa": {labels: map[string]string{ownerLabel: me.String()}, state: container.State{Status: container.StateRunning}},
		"bbbbbbbbbbbb": {labels: map[string]string{ownerLabel: dead.String()}, state: container.State{Status: container.StateRunning}},
		"cccccccccccc": {labels: map[string]string{ownerLabel: rebootedRunning.String()}, state: container.State{Status: container.StateRunning}},
		"dddddddddddd": {labels: map[string]string{ownerLabel: rebootedExited.String()}, state: container.State{Status: container.StateExited}},
		"eeeeeeeeeeee": {labels: map[string]string{ownerLabel: elsewhere.String()}, state: container.State{Status: container.StateRunning}},
		"ffffffffffff": {labels: map[string]string{ownerLabel: otherNamespace.String()}, state: container.State{Status: container.StateRunning}},
		"gggggggggggg": {labels: map[string]string{ownerLabel: "somebody"}, state: container.State{Status: container.StateExited}},
		"hhhhhhhhhhhh": {labels: map[string]string{}, state: container.State{Status: container.StateExited}},
	} {
		c.id, c.ended, c.gone = id, make(chan struct{}), make(chan struct{})
		fake.containers[id] = c
	}
	removed, err := Reap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, name := range removed {
		got[name] = true
	}
	if want := map[string]bool{"bbbbbbbbbbbb": true, "dddddddddddd": true}; !reflect.DeepEqual(got, want) {
		t.Errorf("removed %v, want %v", removed, want)
	}
}

func TestAddressToPublishOn(t *testing.T) {
	d := testDaemon(t)
	for _, test := range []struct{ name, override, bind, want, err string }{
		{"this host", "", "", "127.0.0.1", ""},
		{"this host by name", "localhost", "", "127.0.0.1", ""},
		{"another host", "172.17.0.1", "", "", "the Docker daemon seems to be on another host, 172.17.0.1, and the server's port is published on its loopback only: " +
			"set container.Launcher.Bind to an address of that host which can be reached from here, or, where it is this very host, TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1"},
		{"another host, on purpose", "172.17.0.1", "172.17.0.1", "172.17.0.1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.override != "" {
				t.Setenv("TESTCONTAINERS_HOST_OVERRIDE", test.override)
				d = testDaemon(t)
			}
			got, err := Launcher{Bind: test.bind}.bind(context.Background(), d)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
				return
			}
			if err != nil || got != netip.MustParseAddr(test.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
