package container

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/openloop-go/openloop/engines/launch"
)

// creation bounds the creation of a container. Its image is there.
const creation = time.Minute

// create creates the container, and does not start it. A daemon that has been
// asked to create one goes on when nobody waits for its answer any more, so
// that ctx does not end the wait: what was created in spite of its end is
// removed.
func (l Launcher) create(ctx context.Context, d *daemon, spec launch.Spec, bind netip.Addr, g *guard) (*box, error) {
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), creation)
	defer cancel()
	name := "openloop-" + spec.Name + "-" + suffix()
	g.expect(name)
	b, err := l.ask(asked, d, spec, bind, name)
	if err != nil && answered(err) {
		g.release()
		return nil, err
	}
	if err != nil { // it may appear yet
		g.stay()
		return nil, fmt.Errorf("%w: it may be there yet, and is removed after the end of this process, by the next start at the latest, or by docker rm -f %s", err, name)
	}
	b.guard = g
	g.expect("")
	if ctx.Err() != nil {
		return nil, errors.Join(b.explain(context.Cause(ctx)), b.remove())
	}
	return b, nil
}

// answered reports that an error is the daemon's own answer, or came before it
// was asked, and not that it did not answer.
func answered(err error) bool {
	return !errors.Is(err, context.DeadlineExceeded) && !client.IsErrConnectionFailed(err)
}

// ask has the daemon create the container, and waits for its answer.
func (l Launcher) ask(ctx context.Context, d *daemon, spec launch.Spec, bind netip.Addr, name string) (*box, error) {
	b := &box{daemon: d, spec: spec, bind: bind, stopped: make(chan struct{})}
	if spec.Args != nil {
		b.args = spec.Args(launch.Place{Host: "0.0.0.0", Port: port, Temp: "/tmp"})
	}
	env := map[string]string{}
	for _, pair := range spec.Env {
		variable, value, _ := strings.Cut(pair, "=")
		env[variable] = value
	}
	exposed := strconv.Itoa(port) + "/tcp"
	var inside *container.Config
	var err error
	b.container, err = d.provider.CreateContainer(ctx, testcontainers.ContainerRequest{
		Image:        spec.Image,
		Name:         name,
		Entrypoint:   spec.Command,
		Cmd:          b.args,
		Env:          env,
		ExposedPorts: []string{exposed},
		Labels:       map[string]string{kindLabel: spec.Name, ownerLabel: self().String()},
		ConfigModifier: func(c *container.Config) {
			c.WorkingDir = spec.Dir
			inside = c
		},
		HostConfigModifier: func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{network.MustParsePort(exposed): {{HostIP: bind}}}
			h.ShmSize = spec.ShmSize
			h.IpcMode = container.IpcMode(l.IPC)
			h.Mounts = mounts(spec.Mounts)
			h.DeviceRequests = devices(spec.GPUs)
			// One that can be read back, whatever the daemon's default is.
			h.LogConfig = container.LogConfig{Type: "json-file"}
			// Testcontainers first tries the mounts alone, before there is a container.
			if l.Configure != nil && inside != nil {
				l.Configure(inside, h)
			}
		},
	})
	if err != nil {
		err = b.explain(err)
		if b.container != nil { // it was created, and Ryuk failed
			err = fmt.Errorf("%w: %s", err, noRyuk)
			_ = b.container.Terminate(context.WithoutCancel(ctx), testcontainers.StopTimeout(0))
		}
		return nil, err
	}
	return b, nil
}

// quiet keeps Testcontainers' own progress out of tests' output.
var quiet = log.NewNoopLogger()

func mounts(given []launch.Mount) []mount.Mount {
	var out []mount.Mount
	for _, m := range given {
		kind := mount.TypeVolume
		if strings.ContainsAny(m.Source, `/\`) {
			kind = mount.TypeBind
		}
		out = append(out, mount.Mount{Type: kind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	return out
}

// devices asks for GPUs as docker run's --gpus does.
func devices(gpus string) []container.DeviceRequest {
	request := container.DeviceRequest{Capabilities: [][]string{{"gpu"}}}
	switch gpus {
	case "":
		return nil
	case "all":
		request.Count = -1
	default:
		request.DeviceIDs = strings.Split(gpus, ",")
	}
	return []container.DeviceRequest{request}
}

// commandLine is the docker run that this start comes to.
func (b *box) commandLine() []string {
	s := b.spec
	line := []string{"docker", "run", "--rm", "-p", fmt.Sprintf("%s::%d", b.bind, port)}
	if s.GPUs != "" {
		line = append(line, "--gpus", gpuFlag(s.GPUs))
	}
	if s.ShmSize > 0 {
		line = append(line, "--shm-size", strconv.FormatInt(s.ShmSize, 10))
	}
	for _, m := range s.Mounts {
		volume := m.Source + ":" + m.Target
		if m.ReadOnly {
			volume += ":ro"
		}
		line = append(line, "-v", volume)
	}
	for _, pair := range s.Env {
		name, _, _ := strings.Cut(pair, "=")
		line = append(line, "-e", name)
	}
	if s.Dir != "" {
		line = append(line, "-w", s.Dir)
	}
	rest := b.args
	if len(s.Command) > 0 {
		line = append(line, "--entrypoint", s.Command[0])
		rest = slices.Concat(s.Command[1:], rest)
	}
	return slices.Concat(line, []string{s.Image}, rest)
}

func gpuFlag(gpus string) string {
	if gpus == "all" {
		return gpus
	}
	return `"device=` + gpus + `"`
}

func suffix() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}
