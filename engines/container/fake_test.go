//go:build !docker

package container

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"

	"github.com/openloop-go/openloop/engines/internal/servertest"
)

const (
	real  = false
	image = "fake/vllm:1"
)

var command []string

// fake is a Docker daemon so far as this package asks one. What runs in its
// containers is a server of the test's own.
var fake = &fakeDaemon{}

type fakeDaemon struct {
	mu         sync.Mutex
	containers map[string]*fakeContainer
	made       int
	port       string // of the server in every container
	behaviour
}

// behaviour is what a test has the daemon do; the zero value is what all do.
type behaviour struct {
	absent      bool     // the image is not there
	pulls       []string // what a pull says, the last being an error when absent stays
	createError string
	startError  string
	prints      string // what a program prints
	code        int    // with which it exits at once; 0 is that it serves
	oom         bool
}

type fakeContainer struct {
	id     string
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

func setUp() (func(), error) {
	inside := httptest.NewServer(&servertest.Server{Owner: "vllm", Models: []string{"m"},
		Routes: map[string][]servertest.Reply{"GET /version": {servertest.JSON(`{"version":"0.31.0"}`)}}})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(inside.URL, "http://"))
	if err != nil {
		return nil, err
	}
	fake.port = port
	outside := httptest.NewServer(fake.routes())
	for name, value := range map[string]string{
		"DOCKER_HOST": strings.Replace(outside.URL, "http", "tcp", 1), "TESTCONTAINERS_RYUK_DISABLED": "true",
		"TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return func() { outside.CloseClientConnections(); outside.Close(); inside.Close() }, nil
}

// prepare has the daemon behave.
func prepare() { fake.reset(behaviour{}) }

// kill ends a container as docker kill does, and returns when it is known.
func kill(t *testing.T, id string) {
	t.Helper()
	fake.mu.Lock()
	c := fake.containers[id]
	fake.mu.Unlock()
	fake.end(c, 137, false)
}

// reset forgets all containers and behaves as told.
func (f *fakeDaemon) reset(b behaviour) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behaviour, f.containers = b, map[string]*fakeContainer{}
}

func (f *fakeDaemon) routes() http.Handler {
	mux := http.NewServeMux()
	say := func(pattern string, v any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, v) })
	}
	say("/_ping", "OK")
	say("GET /{v}/info", map[string]any{"OperatingSystem": "Fake", "ServerVersion": "1"})
	say("GET /{v}/networks", []map[string]string{{"Name": "bridge", "Id": "b"}})
	mux.HandleFunc("GET /{v}/images/", f.image)
	mux.HandleFunc("POST /{v}/images/create", f.pull)
	mux.HandleFunc("POST /{v}/containers/create", f.create)
	mux.HandleFunc("GET /{v}/containers/json", f.list)
	mux.HandleFunc("POST /{v}/containers/{id}/start", f.with(f.start))
	mux.HandleFunc("GET /{v}/containers/{id}/json", f.with(f.inspect))
	mux.HandleFunc("GET /{v}/containers/{id}/logs", f.with(f.logs))
	mux.HandleFunc("POST /{v}/containers/{id}/wait", f.with(f.wait))
	mux.HandleFunc("POST /{v}/containers/{id}/stop", f.with(func(w http.ResponseWriter, _ *http.Request, c *fakeContainer) {
		f.end(c, 143, false)
		w.WriteHeader(http.StatusNoContent)
	}))
	mux.HandleFunc("DELETE /{v}/containers/{id}", f.with(func(w http.ResponseWriter, _ *http.Request, c *fakeContainer) {
		f.end(c, 137, false)
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.containers, c.id)
		close(c.gone)
		w.WriteHeader(http.StatusNoContent)
	}))
	return mux
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Api-Version", "1.44")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"message": message})
}

// with finds the container of a request.
func (f *fakeDaemon) with(do func(http.ResponseWriter, *http.Request, *fakeContainer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		c := f.containers[r.PathValue("id")]
		f.mu.Unlock()
		if c == nil {
			refuse(w, http.StatusNotFound, "No such container: "+r.PathValue("id"))
			return
		}
		do(w, r, c)
	}
}

func (f *fakeDaemon) image(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.absent {
		refuse(w, http.StatusNotFound, "No such image")
		return
	}
	answer(w, 200, map[string]any{"Id": "sha256:c0ffee", "RepoDigests": []string{"fake/vllm@sha256:beef"}})
}

func (f *fakeDaemon) pull(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	lines := f.pulls
	f.mu.Unlock()
	for _, line := range lines {
		if line == "hang" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprintln(w, line)
	}
}

func (f *fakeDaemon) create(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.createError != "" {
		refuse(w, http.StatusBadRequest, f.createError)
		return
	}
	f.made++
	c := &fakeContainer{id: fmt.Sprintf("%012x%052x", f.made, 0), ended: make(chan struct{}), gone: make(chan struct{})}
	if err := json.NewDecoder(r.Body).Decode(&c.asked); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	c.labels = c.asked.Labels
	f.containers[c.id] = c
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
	text := f.prints
	f.mu.Unlock()
	for i, part := range strings.SplitAfter(text, "\n") {
		header := [8]byte{0: byte(1 + i%2)}
		binary.BigEndian.PutUint32(header[4:], uint32(len(part)))
		_, _ = w.Write(header[:])
		_, _ = io.WriteString(w, part)
	}
	_ = http.NewResponseController(w).Flush()
	select {
	case <-c.ended:
	case <-r.Context().Done():
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
	found := []map[string]any{}
	for _, c := range f.containers {
		matches := true
		for label := range filters.Label {
			name, value, valued := strings.Cut(label, "=")
			got, ok := c.labels[name]
			matches = matches && ok && (!valued || got == value)
		}
		if matches {
			found = append(found, map[string]any{"Id": c.id, "Names": []string{"/" + c.id[:12]}, "Labels": c.labels, "State": c.state.Status})
		}
	}
	answer(w, 200, found)
}
