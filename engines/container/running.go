package container

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	// lost is how long a daemon that does not answer is believed to come back:
	// containers may survive its restart.
	lost = 30 * time.Second
	// drain is how long the log may go on after the container's end.
	drain = 5 * time.Second
	// askLimit bounds the question whether a container still runs.
	askLimit = 2 * time.Second
	// removal bounds the removal of a container that has been killed.
	removal = 30 * time.Second
)

// ending is how a container ended.
type ending struct {
	gone chan struct{} // closed when the container has ended
	done chan struct{} // and when its log has, too
	text string        // valid after gone
}

// follow copies the container's output to the log until it ends.
func (b *box) follow(ctx context.Context) {
	defer close(b.followed)
	out, errs := &lines{w: b.spec.Log}, &lines{w: b.spec.Log}
	defer out.flush()
	defer errs.flush()
	options := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true}
	for {
		stream, err := b.daemon.client.ContainerLogs(ctx, b.container.GetContainerID(), options)
		if err == nil {
			_, err = stdcopy.StdCopy(out, errs, stream)
			_ = stream.Close()
		}
		if err == nil || ctx.Err() != nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
			return
		}
		fmt.Fprintf(b.spec.Log, "container: the log broke off and lines may be missing: %v\n", err)
		options.Since = strconv.FormatInt(time.Now().Unix(), 10)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// longestLine is where a line without an end is cut, so that a progress bar
// cannot fill the memory.
const longestLine = 64 << 10

// lines passes on whole lines, so that those of two streams do not mix.
type lines struct {
	w       io.Writer
	partial []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.partial = append(l.partial, p...)
	if end := bytes.LastIndexByte(l.partial, '\n') + 1; end > 0 {
		_, _ = l.w.Write(l.partial[:end])
		l.partial = append(l.partial[:0], l.partial[end:]...)
	}
	for len(l.partial) >= longestLine {
		_, _ = l.w.Write(append(l.partial[:longestLine:longestLine], '\n'))
		l.partial = append(l.partial[:0], l.partial[longestLine:]...)
	}
	return len(p), nil
}

func (l *lines) flush() {
	if len(l.partial) > 0 {
		_, _ = l.w.Write(append(l.partial, '\n'))
	}
}

// watch waits for the container's end, then for the rest of its log.
func (b *box) watch(ctx context.Context, endOfLife context.CancelFunc) {
	b.end.text = b.await(ctx)
	close(b.end.gone)
	select {
	case <-b.followed:
	case <-time.After(drain):
	}
	endOfLife()
	<-b.followed
	close(b.end.done)
}

// await returns how the container ended, once it has.
func (b *box) await(ctx context.Context) string {
	var silent time.Time // since when the daemon does not answer
	for {
		wait := b.daemon.client.ContainerWait(ctx, b.container.GetContainerID(),
			client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
		select {
		case <-wait.Result:
		case <-wait.Error:
		}
		state, err := b.container.State(ctx)
		switch {
		case errdefs.IsNotFound(err):
			return "container was removed by somebody else"
		case err == nil && !state.Running && !state.Restarting:
			return ended(state)
		case err == nil:
			silent = time.Time{}
		case silent.IsZero():
			silent = time.Now()
		case time.Since(silent) > lost:
			return fmt.Sprintf("container was lost: the Docker daemon no longer answers (%v)", err)
		}
		time.Sleep(time.Second)
	}
}

// ended says how a container ended. What kills with 9 is as a rule the kernel,
// and Docker does not always see why.
func ended(state *container.State) string {
	text := fmt.Sprintf("container exited with code %d", state.ExitCode)
	switch {
	case state.OOMKilled:
		text += " (out of memory)"
	case state.ExitCode == 137:
		text += " (killed by signal 9, often the kernel, out of memory)"
	}
	if state.Error != "" {
		text += ": " + state.Error
	}
	return text
}

// gone implements launch.Running.Gone. The daemon is asked, since it knows of an
// end before it has told.
func (b *box) gone() bool {
	select {
	case <-b.end.gone:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	state, err := b.container.State(ctx)
	return err == nil && !state.Running && !state.Restarting
}

// stop implements launch.Running.Stop.
func (b *box) stop(ctx context.Context) error {
	b.stopping.Do(func() { go b.takeDown() })
	select {
	case <-b.stopped:
	case <-ctx.Done():
		killed, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
		_, _ = b.daemon.client.ContainerKill(killed, b.container.GetContainerID(), client.ContainerKillOptions{Signal: "KILL"})
		cancel()
		<-b.stopped
	}
	if b.left != nil {
		return b.left
	}
	<-b.end.done
	return nil
}

// takeDown asks the container to end, kills it after the grace, and removes
// it.
func (b *box) takeDown() {
	defer close(b.stopped)
	grace := int(math.Ceil(b.spec.Grace.Seconds()))
	ctx, cancel := context.WithTimeout(context.Background(), b.spec.Grace+removal)
	_, _ = b.daemon.client.ContainerStop(ctx, b.container.GetContainerID(), client.ContainerStopOptions{Timeout: &grace})
	cancel()
	select { // its log goes with it
	case <-b.followed:
	case <-time.After(drain):
	}
	b.left = b.remove()
	_ = b.daemon.client.Close()
}

// remove kills what still runs of the container, and removes it.
func (b *box) remove() error {
	var err error
	for range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), removal)
		err = b.container.Terminate(ctx, testcontainers.StopTimeout(0))
		cancel()
		if err == nil || gone(err) {
			b.guard.release()
			return nil
		}
	}
	return fmt.Errorf("container %s could not be removed (%w): docker rm -f it", short(b.container.GetContainerID()), err)
}

// gone reports that there is nothing left to remove, or that its removal is
// under way.
func gone(err error) bool {
	return errdefs.IsNotFound(err) || strings.Contains(err.Error(), "is already in progress")
}

// explain makes a sentence with a remedy of a container that cannot be created
// or started.
func (b *box) explain(err error) error {
	words := strings.Join(strings.Fields(err.Error()), " ")
	has := func(s string) bool { return strings.Contains(words, s) }
	switch {
	case has("no command specified"):
		return fmt.Errorf("image %q starts no program by itself: set Config.Command, or another Config.Image", b.spec.Image)
	case has("executable file not found") || has("no such file or directory: unknown") || has("exec format error"):
		return fmt.Errorf("image %q cannot run its program (%s): correct Config.Image or Config.Command", b.spec.Image, words)
	case has("could not select device driver"), has("nvidia-container-cli"), has("CDI device"):
		return fmt.Errorf("the Docker daemon cannot give the container GPUs %q (%s)", b.spec.GPUs, words)
	case has("bind source path does not exist"), has("invalid mount config"):
		return fmt.Errorf("a folder cannot be mounted (%s): correct Config.Mounts", words)
	}
	return fmt.Errorf("image %q: %w", b.spec.Image, err)
}
