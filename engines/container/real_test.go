//go:build docker

package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	real  = true
	image = "openloop-sim:test"
)

// command is the image's own: it stands in for vLLM.
var command []string

// setUp builds the image of the embedded engine. Without a daemon the tests
// fail: who asks for them by a build tag wants them run.
func setUp() (func(), error) {
	if os.Getenv("TESTCONTAINERS_RYUK_DISABLED") == "" { // its image may be out of reach
		_ = os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	d, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("the tests with -tags=docker need a Docker daemon (.ci/containers starts one as root): %w", err)
	}
	folder, err := os.MkdirTemp("", "openloop-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(folder, "openloop"), "../../ci/openloop")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the embedded engine: %w\n%s", err, out)
	}
	recipe, err := os.ReadFile("image/Dockerfile")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "Dockerfile"), recipe, 0o600)
	}
	if err != nil {
		return nil, err
	}
	request := &testcontainers.ContainerRequest{FromDockerfile: testcontainers.FromDockerfile{
		Context: folder, Repo: "openloop-sim", Tag: "test", BuildLogWriter: os.Stderr,
	}}
	if _, err := d.provider.BuildImage(ctx, request); err != nil {
		return nil, fmt.Errorf("build the image of the embedded engine: %w", err)
	}
	return func() {
		_, err := d.client.ImageRemove(context.Background(), image, client.ImageRemoveOptions{Force: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, "remove the image:", err)
		}
		_ = d.client.Close()
	}, nil
}

func prepare() {}

// kill ends a container as its host's kernel would.
func kill(t *testing.T, id string) {
	t.Helper()
	if _, err := testDaemon(t).client.ContainerKill(t.Context(), id, client.ContainerKillOptions{Signal: "KILL"}); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
