//go:build !docker

package container

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
)

type fakeContainer struct {
	id     string
	name   string
	asked  createRequest
	state  container.State
	ended  chan struct{} // closed at its end
	gone   chan struct{} // closed at its removal
	labels map[string]string
}

// createRequest is the body of POST /containers/create.
type createRequest struct {
	container.Config
	HostConfig container.HostConfig
}

func (f *fakeDaemon) create(w http.ResponseWriter, r *http.Request) {
	c := &fakeContainer{ended: make(chan struct{}), gone: make(chan struct{})}
	if err := json.NewDecoder(r.Body).Decode(&c.asked); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	f.mu.Lock()
	b := f.behaviour
	f.mu.Unlock()
	if b.slow != nil {
		b.asked <- struct{}{}
		<-b.slow
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.createError != "" {
		refuse(w, http.StatusBadRequest, f.createError)
		return
	}
	f.made++
	c.id, c.name, c.labels = fmt.Sprintf("%012x%052x", f.made, 0), r.URL.Query().Get("name"), c.asked.Labels
	f.containers[c.id] = c
	if b.breaks {
		panic(http.ErrAbortHandler)
	}
	answer(w, http.StatusCreated, map[string]any{"Id": c.id, "Warnings": []string{}})
}

func (f *fakeDaemon) start(w http.ResponseWriter, _ *http.Request, c *fakeContainer) {
	f.mu.Lock()
	b := f.behaviour
	if b.startError == "" {
		c.state = container.State{Status: container.StateRunning, Running: true}
	}
	f.mu.Unlock()
	if b.startError != "" {
		refuse(w, http.StatusInternalServerError, b.startError)
		return
	}
	if b.code != 0 {
		f.end(c, b.code, b.oom)
	}
	w.WriteHeader(http.StatusNoContent)
}

// end ends a container that runs.
func (f *fakeDaemon) end(c *fakeContainer, code int, oom bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-c.ended:
	default:
		c.state = container.State{Status: container.StateExited, ExitCode: code, OOMKilled: oom}
		close(c.ended)
	}
}

func (f *fakeDaemon) inspect(w http.ResponseWriter, _ *http.Request, c *fakeContainer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ports := map[string]any{}
	if c.state.Running {
		ports["8000/tcp"] = []map[string]string{{"HostIp": "127.0.0.1", "HostPort": f.port}}
	}
	answer(w, 200, map[string]any{
		"Id": c.id, "Image": "sha256:c0ffee", "State": c.state, "HostConfig": c.asked.HostConfig,
		"NetworkSettings": map[string]any{"Ports": ports}, "Config": map[string]any{},
	})
}

// logs is a stream of frames: a byte for which of the two it is, three of
// nothing, four of length.
func (f *fakeDaemon) logs(w http.ResponseWriter, r *http.Request, c *fakeContainer) {
	f.mu.Lock()
	text, last := f.prints, f.last
	f.mu.Unlock()
	write := func(text string) {
		for i, part := range strings.SplitAfter(text, "\n") {
			header := [8]byte{0: byte(1 + i%2)}
			binary.BigEndian.PutUint32(header[4:], uint32(len(part)))
			_, _ = w.Write(header[:])
			_, _ = io.WriteString(w, part)
		}
		_ = http.NewResponseController(w).Flush()
	}
	write(text)
	select {
	case <-c.ended:
	case <-r.Context().Done():
	}
	if last == "" {
		return
	}
	select {
	case <-c.gone:
	case <-time.After(50 * time.Millisecond):
		write(last)
	}
}

func (f *fakeDaemon) wait(w http.ResponseWriter, r *http.Request, c *fakeContainer) {
	_ = http.NewResponseController(w).Flush()
	until := c.ended
	if r.URL.Query().Get("condition") == "removed" {
		until = c.gone
	}
	select {
	case <-until:
		f.mu.Lock()
		code := c.state.ExitCode
		f.mu.Unlock()
		fmt.Fprintf(w, `{"StatusCode":%d}`, code)
	case <-r.Context().Done():
	}
}

func (f *fakeDaemon) list(w http.ResponseWriter, r *http.Request) {
	var filters struct{ Label map[string]bool }
	_ = json.Unmarshal([]byte(r.URL.Query().Get("filters")), &filters)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looks != nil {
		select {
		case f.looks <- struct{}{}:
		default:
		}
	}
	found := []map[string]any{}
	for _, c := range f.containers {
		matches := true
		for label := range filters.Label {
			name, value, valued := strings.Cut(label, "=")
			got, ok := c.labels[name]
			matches = matches && ok && (!valued || got == value)
		}
		if matches {
			found = append(found, map[string]any{"Id": c.id, "Names": []string{"/" + cmp.Or(c.name, c.id[:12])}, "Labels": c.labels, "State": c.state.Status})
		}
	}
	answer(w, 200, found)
}
