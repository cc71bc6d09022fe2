package container

import (
	"context"
	"errors"
	"fmt"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Reap removes containers of test binaries that are no more, and returns their
// names. Every start does so by itself; Reap is for a CI job that wants a clean
// host. It leaves alone what it cannot judge: containers of other hosts, and
// of processes that it cannot see, as those of another container.
func Reap(ctx context.Context) (removed []string, err error) {
	d, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("reap containers: %w", err)
	}
	defer d.client.Close()
	return d.reap(ctx)
}

func (d *daemon) reap(ctx context.Context) ([]string, error) {
	return d.remove(ctx, "", func(c container.Summary) bool {
		o, ok := parseOwner(c.Labels[ownerLabel])
		if !ok {
			return false
		}
		switch fateOf(o) {
		case died:
			return true
		case rebooted: // a clone of the host has the same name: let what runs be
			return c.State != container.StateRunning
		}
		return false
	})
}

// remove removes the containers of an owner, or of all where it is empty, that
// are to go.
func (d *daemon) remove(ctx context.Context, owner string, goes func(container.Summary) bool) ([]string, error) {
	label := ownerLabel
	if owner != "" {
		label += "=" + owner
	}
	list, err := d.client.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", label),
	})
	if err != nil {
		return nil, err
	}
	var removed []string
	var errs []error
	for _, c := range list.Items {
		if !goes(c) {
			continue
		}
		_, err := d.client.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil:
			removed = append(removed, name(c))
		case !gone(err):
			errs = append(errs, fmt.Errorf("remove container %s: %w", name(c), err))
		}
	}
	return removed, errors.Join(errs...)
}

func name(c container.Summary) string {
	if len(c.Names) > 0 {
		return c.Names[0][1:] // they begin with a slash
	}
	return short(c.ID)
}
