package container

import (
	"context"
	"slices"
	"strconv"

	"github.com/moby/moby/api/types/container"
)

// settings are what is recorded of the container: the image and its digest,
// and the limits that decide how fast it is, where they are not the usual ones.
func (b *box) settings(ctx context.Context, c *container.InspectResponse) map[string]string {
	set := map[string]string{"image": b.spec.Image, "image_digest": b.digest(ctx, c.Image)}
	if h := c.HostConfig; h != nil {
		number := func(name string, n, usual int64) {
			if n != 0 && n != usual {
				set["container."+name] = strconv.FormatInt(n, 10)
			}
		}
		text := func(name, s string, usual ...string) {
			if s != "" && !slices.Contains(usual, s) {
				set["container."+name] = s
			}
		}
		number("memory", h.Memory, 0)
		number("nano_cpus", h.NanoCPUs, 0)
		number("cpu_quota", h.CPUQuota, 0)
		number("cpu_shares", h.CPUShares, 0)
		number("shm_size", h.ShmSize, 64<<20)
		text("cpuset_cpus", h.CpusetCpus)
		text("cpuset_mems", h.CpusetMems)
		text("ipc", string(h.IpcMode), "private", "shareable")
		text("network", string(h.NetworkMode), "default", "bridge")
		text("runtime", h.Runtime, "runc")
	}
	for name, value := range set {
		if value == "" {
			delete(set, name)
		}
	}
	return set
}

// digest names the image's content: the digest in its registry, or for an
// image that was built here and never pushed the id of its configuration.
func (b *box) digest(ctx context.Context, id string) string {
	image, err := b.daemon.client.ImageInspect(ctx, id)
	if err == nil && len(image.RepoDigests) > 0 {
		return image.RepoDigests[0]
	}
	return id
}
