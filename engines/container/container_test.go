package container

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/launch"
)

// listed are the containers of an owner; of any where it is zero.
func listed(t *testing.T, o owner) []container.Summary {
	t.Helper()
	label := ownerLabel
	if o.pid != 0 {
		label += "=" + o.String()
	}
	list, err := testDaemon(t).client.ContainerList(t.Context(), client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", label),
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func testDaemon(t *testing.T) *daemon {
	t.Helper()
	d, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.client.Close() })
	return d
}

// awaitRemoval returns when a container is no more.
func awaitRemoval(t *testing.T, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wait := testDaemon(t).client.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
	select {
	case <-wait.Result:
	case err := <-wait.Error:
		if !gone(err) {
			t.Fatalf("container %s is not removed: %v", short(id), err)
		}
	}
}

// watchdogs are the pids of an owner's, without the child that Go's package os
// has for a moment in each, to try what the kernel can do.
func watchdogs(t *testing.T, o owner) (pids []int) {
	t.Helper()
	mark := []byte(watchdogVariable + "=" + o.String() + "\x00")
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	marked := func(environ string) bool {
		env, err := os.ReadFile(environ)
		return err == nil && bytes.Contains(append(env, 0), mark)
	}
	for _, file := range files {
		if !marked(file) {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
		if err != nil {
			continue // it has ended since
		}
		var state string
		var parent int // fields 3 and 4, after the name in parentheses
		_, _ = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent)
		if marked(fmt.Sprintf("/proc/%d/environ", parent)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		pids = append(pids, pid)
	}
	return pids
}

func TestServerInAContainer(t *testing.T) {
	prepare()
	cfg := configuration(t)
	cfg.APIKey, cfg.Env = "sesame-open", []string{"HF_TOKEN=hush-hush-hush", "A=b"}
	e := start(t, cfg)
	first, url := listed(t, self()), e.URL()
	if len(first) != 1 || !strings.HasPrefix(url, "http://127.0.0.1:") || first[0].Labels[kindLabel] != "vllm" {
		t.Fatalf("%d containers at %s", len(first), url)
	}
	id, err := e.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if id.Settings["image"] != image || !strings.Contains(id.Settings["image_digest"], "sha256:") || id.Settings["env.A"] != "b" {
		t.Errorf("settings %v", id.Settings)
	}
	if !strings.HasPrefix(id.Command, "docker run --rm -p 127.0.0.1::8000 -e VLLM_SERVER_DEV_MODE -e VLLM_API_KEY -e HF_TOKEN -e A ") ||
		!strings.HasSuffix(id.Command, image+" m --host 0.0.0.0 --port 8000 --enable-prompt-tokens-details") && len(command) == 0 {
		t.Errorf("command %s", id.Command)
	}
	counters, err := e.Scrape(t.Context())
	if err != nil || !strings.Contains(counters.Instance, "start 1, container "+short(first[0].ID)) {
		t.Errorf("instance %q, %v", counters.Instance, err)
	}
	if err := e.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := listed(t, self())
	if len(second) != 1 || second[0].ID == first[0].ID {
		t.Errorf("after a restart: %v", second)
	}
	if reply, err := e.Generate(t.Context(), &engines.Request{ID: "r", Tokens: []int32{1, 2, 3}, MaxTokens: 2, IgnoreEOS: true}, func(engines.Chunk) {}); err != nil || reply.OutputTokens != engines.Known(2) {
		t.Errorf("%+v, %v", reply, err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := listed(t, self()); len(left) != 0 {
		t.Errorf("after its end: %v", left)
	}
	if dogs := watchdogs(t, self()); len(dogs) != 0 {
		t.Errorf("watchdogs %v watch nothing", dogs)
	}
	for _, file := range []string{cfg.LogFile, e.LogFile()} {
		if log, err := os.ReadFile(file); err != nil || strings.Contains(string(log), "sesame") || strings.Contains(string(log), "hush") {
			t.Errorf("%v: %s", err, log)
		}
	}
}

// A container that dies under a test is missed at once, with its last words.
func TestContainerThatIsKilled(t *testing.T) {
	prepare()
	running, err := Launcher{Image: image}.Launch(t.Context(), launch.Spec{
		Name: "vllm", Command: command, Grace: time.Second, Log: io.Discard,
		Args: func(at launch.Place) []string {
			return []string{"m", "--host", at.Host, "--port", strconv.Itoa(at.Port)}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := listed(t, self())[0].ID
	kill(t, id)
	if !real && !running.Gone() {
		t.Error("it is not known to have ended")
	}
	select {
	case <-running.Done:
	case <-time.After(20 * time.Second):
		t.Error("it is not missed")
	}
	if !running.Gone() {
		t.Error("it has ended, and is not gone")
	}
	if got, want := running.Ended(), "container exited with code 137 (killed by signal 9, often the kernel, out of memory)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for range 2 { // the second one has nothing to do
		if err := running.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	awaitRemoval(t, id)
}
