package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// daemon is a Docker daemon that answers.
type daemon struct {
	provider *testcontainers.DockerProvider
	client   client.APIClient
	system   string // its operating system, as it names it
}

// connect finds the daemon. Its three failures, no Docker, no daemon, and no
// right to use it, have different remedies.
func connect(ctx context.Context) (*daemon, error) {
	type found struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	looked := make(chan found, 1)
	go func() { // it takes no context, and a host that swallows packets takes minutes
		p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(quiet))
		looked <- found{p, err}
	}()
	var f found
	select {
	case f = <-looked:
	case <-ctx.Done():
		go func() {
			if late := <-looked; late.err == nil {
				_ = late.provider.Close()
			}
		}()
		return nil, here().explain(context.Cause(ctx))
	}
	if f.err != nil {
		return nil, here().explain(f.err)
	}
	d := &daemon{provider: f.provider, client: f.provider.Client()}
	if err := d.admit(ctx); err != nil {
		return nil, here().explain(err)
	}
	return d, nil
}

// admit finds out whether it is the daemon that was asked for and answers, and
// lets go of any other.
func (d *daemon) admit(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			_ = d.client.Close()
		}
	}()
	if asked := os.Getenv("DOCKER_HOST"); asked != "" && asked != d.client.DaemonHost() &&
		d.provider.Config().Config.TestcontainersHost == "" { //nolint:staticcheck // the only way to its configuration
		// Testcontainers takes the default socket then: another host, perhaps.
		return errors.New("it does not answer")
	}
	info, err := d.client.Info(ctx, client.InfoOptions{})
	if err != nil {
		return err
	}
	d.system = info.Info.OperatingSystem
	return nil
}

// local reports that containers compute on this host, and on all of it.
func (d *daemon) local() bool {
	return runtime.GOOS == "linux" && strings.HasPrefix(d.client.DaemonHost(), "unix://") && d.system != "Docker Desktop"
}

// signs are what tells a host without Docker from one whose daemon is down.
type signs struct {
	host    string // DOCKER_HOST
	socket  string // a socket that exists
	program string // docker, or a daemon's program
}

const defaultSocket = "/var/run/docker.sock"

func here() signs {
	s := signs{host: os.Getenv("DOCKER_HOST")}
	if _, err := os.Stat(defaultSocket); err == nil {
		s.socket = defaultSocket
	}
	for _, name := range []string{"docker", "dockerd", "podman"} {
		if found, err := exec.LookPath(name); err == nil {
			s.program = found
			break
		}
	}
	return s
}

// explain makes a sentence with a remedy of why no daemon answered.
func (s signs) explain(err error) error {
	words := strings.Join(strings.Fields(err.Error()), " ")
	where := s.host
	if where == "" {
		where = s.socket
	}
	switch {
	case errors.Is(err, fs.ErrPermission) || strings.Contains(words, "permission denied"):
		return fmt.Errorf("the Docker daemon may not be used by this user (%s): join the group docker (usermod -aG docker, then log in anew), or set DOCKER_HOST to a daemon that may be", words)
	case s.host != "":
		return fmt.Errorf("the Docker daemon is down: DOCKER_HOST is %s and nothing answers there (%s): start it, or correct DOCKER_HOST", s.host, words)
	case where != "":
		return fmt.Errorf("the Docker daemon is down: %s exists and nothing answers there (%s): start it (systemctl start docker, or Docker Desktop)", where, words)
	case s.program != "":
		return fmt.Errorf("the Docker daemon is down: there is %s and no socket of a daemon (%s): start it (systemctl start docker, or Docker Desktop), or set DOCKER_HOST", s.program, words)
	}
	return fmt.Errorf("there is no Docker here, neither the program docker nor a socket of a daemon (%s): install Docker (https://docs.docker.com/get-started/get-docker/), set DOCKER_HOST to a daemon elsewhere, or leave out Config.Launcher to start a process", words)
}
