package server

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/launch"
)

// A server that does not come to be ready is waited for, not in silence, and the
// error says what it was asked for.
func TestAttachSaysWhatItWaitsFor(t *testing.T) {
	const hangs = ": it hangs, or something between here and there does: look into its log, or start it again; raise Config.StartBudget if it only needs longer (http://engine: "
	for _, test := range []struct {
		name   string
		chat   bool
		server *servertest.Server
		// hang is the route that is not answered; begins answers its headers.
		hang   string
		begins bool
		after  time.Duration // how long it hangs; 0 is for ever
		log    []string
		err    string
		// took is what attaching takes; the stream's end is waited for 100 ms.
		took time.Duration
	}{
		{"answers at once", false, vllmLike("m"), "", false, 0, nil, "", 100 * time.Millisecond},
		{"takes a moment", false, vllmLike("m"), "/v1/completions", false, 899 * time.Millisecond, nil, "", 999 * time.Millisecond},
		{"takes a while", false, vllmLike("m"), "/v1/completions", false, 40 * time.Second, []string{
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/completions) for 1s; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/completions) for 31s; at most 1m10s in all",
		}, "", 40*time.Second + 100*time.Millisecond},
		{"never generates", false, vllmLike("m"), "/v1/completions", false, 0, []string{
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/completions) for 1s; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/completions) for 31s; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/completions) for 1m1s; at most 1m10s in all",
		}, "attach vllm: not ready after 1m10s: http://engine (Config.URL) has not ended a generation of 2 tokens (POST /v1/completions), asked 1m10s before" + hangs + "POST /v1/completions: canceled: context deadline exceeded)", 70 * time.Second},
		{"begins its answer and never generates", true, vllmLike("m"), "/v1/chat/completions", true, 0, []string{
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/chat/completions) for 1s; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/chat/completions) for 31s; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): it has not ended a generation of 2 tokens (POST /v1/chat/completions) for 1m1s; at most 1m10s in all",
		}, "attach vllm: not ready after 1m10s: http://engine (Config.URL) has not ended a generation of 2 tokens (POST /v1/chat/completions), asked 1m10s before" + hangs + "POST /v1/chat/completions, before the first event: canceled: context deadline exceeded)", 70 * time.Second},
		{"loads for ever", false, &servertest.Server{Routes: map[string][]servertest.Reply{
			"GET /v1/models": {servertest.Text(503, "loading model")},
		}}, "", false, 0, []string{
			"vllm: waiting for http://engine (Config.URL): http://engine: GET /v1/models: 503 Service Unavailable: loading model; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): http://engine: GET /v1/models: 503 Service Unavailable: loading model; at most 1m10s in all",
			"vllm: waiting for http://engine (Config.URL): http://engine: GET /v1/models: 503 Service Unavailable: loading model; at most 1m10s in all",
		}, "attach vllm: not ready after 1m10s: http://engine: GET /v1/models: 503 Service Unavailable: loading model; raise Config.StartBudget if it only needs longer", 70 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipes := servertest.Listen()
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != test.hang {
						test.server.ServeHTTP(w, r)
						return
					}
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(strings.NewReader(string(body)))
					if test.begins {
						w.Header().Set("Content-Type", "text/event-stream")
						_ = http.NewResponseController(w).Flush()
					}
					if test.after == 0 {
						<-r.Context().Done()
						return
					}
					time.Sleep(test.after)
					test.server.ServeHTTP(w, r)
				})}
				served := make(chan error)
				go func() { served <- server.Serve(pipes) }()
				var log []string
				k := testKind()
				c := Config{
					Config: launch.Config{URL: "http://engine", Chat: test.chat, Dial: pipes.Dial, StartBudget: 70 * time.Second},
					from:   "Config.URL", longer: "raise Config.StartBudget",
					log: func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) },
				}
				began := time.Now()
				s, err := k.attach(t.Context(), c, nil)
				if took := time.Since(began); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
				if err == nil {
					_ = s.Close(t.Context())
				} else if err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
				if err == nil && test.err != "" {
					t.Errorf("attached, want %s", test.err)
				}
				if !slices.Equal(log, test.log) {
					t.Errorf("log\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(test.log, "\n"))
				}
				_ = server.Close()
				<-served
			})
		})
	}
}
