//go:build !docker

package container

import (
	"context"
	"errors"
	"testing"

	"github.com/moby/moby/client"
)

// hostClient is a client of a daemon so far as connecting asks one.
type hostClient struct {
	client.APIClient
	address string
	fails   error
	closed  int
}

func (h *hostClient) DaemonHost() string { return h.address }
func (h *hostClient) Close() error       { h.closed++; return nil }
func (h *hostClient) Info(context.Context, client.InfoOptions) (client.SystemInfoResult, error) {
	return client.SystemInfoResult{}, h.fails
}

// A daemon that is not the one to use is let go of.
func TestDaemonThatIsLetGo(t *testing.T) {
	usual := testDaemon(t)
	here := usual.client.DaemonHost()
	for _, test := range []struct {
		name   string
		client hostClient
		err    string
		closed int
	}{
		{"it answers", hostClient{address: here}, "", 0},
		{"it is another", hostClient{address: "unix:///var/run/docker.sock"}, "it does not answer", 1},
		{"it fails", hostClient{address: here, fails: errors.New("out of memory")}, "out of memory", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := &daemon{provider: usual.provider, client: &test.client}
			got := ""
			if err := d.admit(t.Context()); err != nil {
				got = err.Error()
			}
			if got != test.err || test.client.closed != test.closed {
				t.Errorf("%q and closed %d times, want %q and %d", got, test.client.closed, test.err, test.closed)
			}
		})
	}
}
