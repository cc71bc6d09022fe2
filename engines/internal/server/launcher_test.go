package server

import (
	"context"
	"io"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/launch"
)

// box is a launcher whose servers are of the test's own process.
type box struct {
	prints string
	saw    *launch.Spec
	args   *[]string
}

func (b box) Launch(_ context.Context, spec launch.Spec) (*launch.Running, error) {
	*b.saw = spec
	*b.args = spec.Args(launch.Place{Host: "0.0.0.0", Port: 8000, Temp: "/tmp"})
	_, _ = io.WriteString(spec.Log, b.prints)
	h := httptest.NewServer(&servertest.Server{Owner: "vllm", Models: []string{"m"}})
	done := make(chan struct{})
	end := sync.OnceFunc(func() { h.Close(); close(done) })
	return &launch.Running{
		URL: h.URL, ID: "box 7", Command: append([]string{"box"}, *b.args...), Done: done,
		Settings: map[string]string{"image_digest": "sha256:beef"},
		Ended:    func() string { return "ended" },
		Stop:     func(context.Context) error { end(); return nil },
	}, nil
}

func TestLaunchThroughALauncher(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TEST_VLLM_INHERITED", "no")
	var spec launch.Spec
	var args []string
	k := testKind()
	k.Inside = []string{"python3", "-m", "server"}
	s, err := Launch(t.Context(), k, launch.Config{
		Model: "m", Launcher: box{saw: &spec, args: &args}, Image: "i:1", GPUs: "0", ShmSize: 5, APIKey: "sesame-open",
		Mounts: []launch.Mount{{Source: "/w", Target: "/w"}}, Args: []string{"-tp", "2"}, Env: []string{"A=b"}, Dir: "/work",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(args, " "); got != "python3 -m server m --port 8000 --details -tp 2" {
		t.Errorf("arguments %s", got)
	}
	if spec.Command != nil || spec.Image != "i:1" || spec.GPUs != "0" || spec.ShmSize != 5 || spec.Dir != "/work" || len(spec.Mounts) != 1 {
		t.Errorf("%+v", spec)
	}
	if want := []string{roleName + "=serve", "TEST_API_KEY=sesame-open", "A=b"}; !reflect.DeepEqual(spec.Env, want) {
		t.Errorf("environment %q, want %q: a container counts its GPUs anew, and inherits nothing", spec.Env, want)
	}
	id := s.Identity()
	want := map[string]string{"tensor_parallel_size": "2", "env.A": "b", "gpus": "0", "image_digest": "sha256:beef"}
	if !reflect.DeepEqual(id.Settings, want) || id.Command != "box python3 -m server m --port 8000 --details -tp 2" {
		t.Errorf("%+v", id)
	}
	if got := s.Hardware(t.Context(), 0); got != "" {
		t.Errorf("hardware %q of a server that computes elsewhere", got)
	}
	if got := s.Instance(); got != "start 1, box 7" {
		t.Errorf("instance %q", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	// A program of its own replaces what the image starts.
	s, err = Launch(t.Context(), k, launch.Config{Model: "m", Launcher: box{saw: &spec, args: &args}, Command: []string{"serve"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(append(spec.Command, args...), " "); got != "serve m --port 8000 --details" {
		t.Errorf("command line %s", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A GPU that was asked for is used, or the start fails.
func TestServerThatGoesOnWithoutItsGPU(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const line = "warning: no usable GPU found, --gpu-layers option will be ignored"
	k := testKind()
	k.Without = regexp.MustCompile(`no usable GPU found`)
	var spec launch.Spec
	var args []string
	for _, test := range []struct{ gpus, want string }{
		{"", ""},
		{"0", `start vllm: Config.GPUs is "0", and the server goes on without a GPU ("` + line + `"): no usable GPU: run where there is one, with the NVIDIA container toolkit installed, or set OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL to the URL of a server that runs, log in `},
	} {
		s, err := Launch(t.Context(), k, launch.Config{Model: "m", GPUs: test.gpus, Launcher: box{prints: line + "\n", saw: &spec, args: &args}})
		if test.want == "" {
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Close(t.Context())
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

// A server that takes connections and never answers is given up with the
// start budget.
func TestHungServer(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := Launch(t.Context(), testKind(), launch.Config{Model: "m", Env: []string{roleName + "=hung"}, StartBudget: 2 * time.Second})
	if err == nil {
		t.Fatal("started")
	}
	const want = `start vllm: not ready ~: http://~: GET /v1/models: canceled: there was no answer yet; raise Config.StartBudget if it only needs longer, log in ~; its last lines:
    serving m with ~ --details `
	if got := variable.ReplaceAllString(err.Error(), "~"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
