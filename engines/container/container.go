// Package container starts inference servers as Docker containers, through
// Testcontainers. It is a package of its own so that those who start processes
// or attach to a URL do not build Docker's client:
//
//	engine := vllm.Start(t, vllm.Config{
//		Model:    "meta-llama/Meta-Llama-3-8B-Instruct",
//		Launcher: container.Launcher{Image: "vllm/vllm-openai:v0.26.0"},
//		GPUs:     "all",
//	})
//
// A container is reached by a port of 127.0.0.1 that Docker chooses, and is
// never kept: not after a failed test, a panic in any goroutine, a deadline,
// Ctrl-C, or a kill -9 of the test binary. A watchdog, which is the test binary
// run again, outlives it for as long as it takes to remove its containers, and
// holds its locks until then; where that cannot act either, the next start
// removes what the labels show to be left (Reap). Testcontainers' own reaper,
// Ryuk, is neither needed nor disturbed.
//
// Between a test and its container is Docker's proxy. On a busy host of two
// cores it made the first token up to 0.3 ms later, and the time per token no
// longer.
//
// Where the daemon is found, how Ryuk is switched off and which credentials
// pull an image are for Testcontainers' configuration to say: DOCKER_HOST,
// TESTCONTAINERS_RYUK_DISABLED, ~/.testcontainers.properties,
// ~/.docker/config.json.
//
// The environment of a container, keys included, is open to everyone who may
// talk to the daemon (docker inspect).
package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"sync"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"

	"github.com/openloop-go/openloop/engines/launch"
)

// port is where a server listens in its container.
const port = 8000

// Launcher starts servers as containers. It implements launch.Launcher. The
// zero value is usable with an image in the configuration.
type Launcher struct {
	// Image is the image of configurations that name none.
	Image string
	// IPC is the container's IPC namespace: "host" shares the host's, as
	// docker run's --ipc does. Empty is the daemon's default. Servers on
	// several GPUs need it or Config.ShmSize.
	IPC string
	// Bind is the address of the daemon's host to publish the port on, and to
	// reach it by. Empty is 127.0.0.1, which only the same host can reach;
	// where the daemon is elsewhere, whoever reaches Bind may use the server.
	Bind string
	// Configure changes the container before it is created, after everything
	// else: limits of memory, processors, capabilities, devices. Nil changes
	// nothing.
	Configure func(*container.Config, *container.HostConfig)
}

// Launch implements launch.Launcher. It removes what earlier test binaries
// left, pulls the image where it is missing, and starts a container.
func (l Launcher) Launch(ctx context.Context, spec launch.Spec) (*launch.Running, error) {
	if spec.Image == "" {
		spec.Image = l.Image
	}
	if err := l.validate(spec); err != nil {
		return nil, err
	}
	d, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	running, err := l.launch(ctx, d, spec)
	if err != nil {
		_ = d.client.Close()
	}
	return running, err
}

func (l Launcher) launch(ctx context.Context, d *daemon, spec launch.Spec) (*launch.Running, error) {
	bind, err := l.bind(ctx, d)
	if err != nil {
		return nil, err
	}
	if _, err := d.reap(ctx); err != nil {
		fmt.Fprintf(spec.Log, "container: what earlier runs left could not be removed: %v\n", err)
	}
	if err := d.images(ctx, spec.Image, spec.Log); err != nil {
		return nil, err
	}
	b, err := l.create(ctx, d, spec, bind, watch(spec.Guarded))
	if err != nil {
		return nil, err
	}
	running, err := b.start(ctx)
	if err != nil {
		return nil, errors.Join(err, b.remove())
	}
	return running, nil
}

func (l Launcher) validate(spec launch.Spec) error {
	switch {
	case spec.Image == "":
		return errors.New("no image is named for the container: set Config.Image")
	case spec.Dir != "" && !path.IsAbs(spec.Dir):
		return fmt.Errorf("Config.Dir %q is a folder in the container: give an absolute path", spec.Dir)
	}
	if l.Bind != "" {
		if _, err := netip.ParseAddr(l.Bind); err != nil {
			return fmt.Errorf("container.Launcher.Bind must be an IP address, got %q", l.Bind)
		}
	}
	return nil
}

// bind is the address to publish on. The port of a daemon that is elsewhere
// is published for others to reach only where the user says so.
func (l Launcher) bind(ctx context.Context, d *daemon) (netip.Addr, error) {
	if l.Bind != "" {
		return netip.ParseAddr(l.Bind)
	}
	host, err := d.provider.DaemonHost(ctx)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("find the daemon's host: %w", err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.IsLoopback() {
		return netip.Addr{}, fmt.Errorf("the Docker daemon seems to be on another host, %s, and the server's port is published on its loopback only: set container.Launcher.Bind to an address of that host which can be reached from here, or, where it is this very host, TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1", host)
	}
	return addr, nil
}

// box is a container.
type box struct {
	daemon    *daemon
	container testcontainers.Container
	spec      launch.Spec
	args      []string
	bind      netip.Addr
	guard     *guard // that watches it
	end       *ending
	followed  chan struct{} // closed when all output is in the log

	stopping sync.Once
	stopped  chan struct{} // closed when the container is gone, or cannot be removed
	left     error         // valid after stopped: why it cannot
}

// start starts the container and has its log and its end watched.
func (b *box) start(ctx context.Context) (*launch.Running, error) {
	if err := b.container.Start(ctx); err != nil {
		return nil, b.explain(err)
	}
	b.end = &ending{gone: make(chan struct{}), done: make(chan struct{})}
	b.followed = make(chan struct{})
	life, endOfLife := context.WithCancel(context.WithoutCancel(ctx))
	go b.follow(life)
	go b.watch(life, endOfLife)
	inspected, err := b.container.Inspect(ctx)
	if err != nil {
		return nil, fmt.Errorf("inspect the container: %w", err)
	}
	url, err := b.url(inspected)
	if err != nil {
		return nil, err
	}
	return &launch.Running{
		URL:      url,
		ID:       "container " + short(b.container.GetContainerID()),
		Command:  b.commandLine(),
		Settings: b.settings(ctx, inspected),
		Local:    b.daemon.local(),
		Done:     b.end.done,
		Ended:    func() string { return b.end.text },
		Gone:     b.gone,
		Stop:     b.stop,
	}, nil
}

// url is where Docker published the port. A container that has ended already
// has none, and its end says more: until that is known the URL is one where
// nobody can listen.
func (b *box) url(c *container.InspectResponse) (string, error) {
	host := b.bind
	if host.IsUnspecified() {
		host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	for p, bindings := range c.NetworkSettings.Ports {
		if p.Num() == port && len(bindings) > 0 {
			return "http://" + net.JoinHostPort(host.String(), bindings[0].HostPort), nil
		}
	}
	if c.State != nil && !c.State.Running {
		return "http://127.0.0.1:0", nil
	}
	return "", fmt.Errorf("the container publishes no port %d: let container.Launcher.Configure keep its ports and its network", port)
}

func short(id string) string { return id[:min(len(id), 12)] }
