//go:build !docker

package container

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

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
	asked       chan struct{} // told of each creation that has begun
	slow        chan struct{} // which goes on when this is closed, whoever still waits for it
	looks       chan struct{} // told of each list of containers
	breaks      bool          // it creates the container and breaks off the connection
	startError  string
	prints      string // what a program prints
	last        string // and with its end, which the log has a moment later, if it is still there
	code        int    // with which it exits at once; 0 is that it serves
	oom         bool
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
