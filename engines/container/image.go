package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// progressEvery is the pause between two lines about a pull.
const progressEvery = 5 * time.Second

// noRyuk is what to do where Testcontainers' reaper cannot run.
const noRyuk = "set TESTCONTAINERS_RYUK_DISABLED=true, since containers are removed without Ryuk"

// images pulls what is missing of the server's image and Ryuk's.
func (d *daemon) images(ctx context.Context, image string, log io.Writer) error {
	if !d.provider.Config().RyukDisabled {
		ryuk := testcontainers.ReaperDefaultImage //nolint:staticcheck // it has no other name
		if err := d.need(ctx, ryuk, noRyuk, log); err != nil {
			return fmt.Errorf("the reaper of Testcontainers cannot run: %w", err)
		}
	}
	return d.need(ctx, image, "correct Config.Image, build or load the image, or log in to its registry (docker login)", log)
}

// need pulls an image that is not there, and says in the log how far it is.
// Testcontainers would pull it too, silently, and try again for many minutes
// what cannot succeed.
func (d *daemon) need(ctx context.Context, image, remedy string, log io.Writer) error {
	if d.provider.Config().Config.HubImageNamePrefix != "" { //nolint:staticcheck // the only way to its configuration
		return nil // it is pulled under another name
	}
	_, err := d.client.ImageInspect(ctx, image)
	switch {
	case err == nil:
		return nil
	case !errdefs.IsNotFound(err):
		return fmt.Errorf("inspect image %q: %w", image, err)
	}
	var options client.ImagePullOptions
	if _, auth, err := testcontainers.DockerImageAuth(ctx, image); err == nil {
		if options.RegistryAuth, err = authconfig.Encode(auth); err != nil {
			return fmt.Errorf("credentials for image %q: %w", image, err)
		}
	}
	var p pull
	if err := p.run(ctx, d.client, image, options, log); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("image %q is not here and was being pulled%s", image, p.far())
		}
		return fmt.Errorf("image %q is not here and cannot be pulled (%s): %s",
			image, strings.Join(strings.Fields(err.Error()), " "), remedy)
	}
	return nil
}

// pull is a pull of an image, layer by layer.
type pull struct {
	layers map[string]jsonstream.Progress
}

func (p *pull) run(ctx context.Context, c client.APIClient, image string, options client.ImagePullOptions, log io.Writer) error {
	fmt.Fprintf(log, "container: pulling image %s\n", image)
	began := time.Now()
	response, err := c.ImagePull(ctx, image, options)
	if err != nil {
		return err
	}
	defer response.Close()
	p.layers = map[string]jsonstream.Progress{}
	last := began
	for message, err := range response.JSONMessages(ctx) {
		if err != nil {
			return err
		}
		if message.Error != nil {
			return errors.New(message.Error.Message)
		}
		if message.Status == "Downloading" && message.Progress != nil {
			p.layers[message.ID] = *message.Progress
		}
		if time.Since(last) >= progressEvery {
			last = time.Now()
			fmt.Fprintf(log, "container: pulling image %s%s\n", image, p.far())
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Fprintf(log, "container: pulled image %s in %v\n", image, time.Since(began).Round(time.Second))
	return nil
}

// far is ", 3.1 of 8.4 GB in 12 layers"; empty while nothing is known.
func (p *pull) far() string {
	var current, total int64
	for _, layer := range p.layers {
		current += layer.Current
		total += layer.Total
	}
	if total == 0 {
		return ""
	}
	const gb = 1e9
	return fmt.Sprintf(", %.1f of %.1f GB in %d layers", float64(current)/gb, float64(total)/gb, len(p.layers))
}
