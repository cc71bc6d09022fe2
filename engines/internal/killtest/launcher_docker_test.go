//go:build linux && docker

package killtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/container"
	"github.com/openloop-go/openloop/engines/vllm"
)

var launchers = []string{"process", "container"}

const image = "openloop-sim:killtest"

// prepare builds the image of the embedded engine from nothing.
func prepare(folder string) (tearDown func(), err error) {
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true",      // nothing needs it, and its image may be out of reach
		"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1", // the daemon is on this very host
	} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value)
		}
	}
	recipe, err := os.ReadFile("../../container/image/Dockerfile")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "Dockerfile"), recipe, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if out, err := exec.Command("docker", "build", "--tag", image, folder).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the image of the embedded engine (.ci/containers starts a Docker daemon): %w\n%s", err, out)
	}
	return func() { _ = exec.Command("docker", "image", "rm", "--force", image).Run() }, nil
}

func configure(launcher string, cfg *vllm.Config) {
	if launcher == "container" {
		cfg.Launcher, cfg.Image, cfg.Command = container.Launcher{}, image, nil
	}
}

func containers(t *testing.T, v *victim) []string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "--all", "--filter", "label=openloop.owner",
		"--format", `{{.ID}} {{.Label "openloop.owner"}}`).Output()
	if err != nil {
		t.Fatalf("docker ps: %v", err)
	}
	var left []string
	for line := range strings.Lines(string(out)) {
		id, owner, _ := strings.Cut(strings.TrimSpace(line), " ")
		if fields := strings.Split(owner, "/"); len(fields) == 5 && fields[3] == fmt.Sprint(v.cmd.Process.Pid) {
			left = append(left, id)
		}
	}
	return left
}
