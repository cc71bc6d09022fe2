package doctor_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
)

// failing is what is said of a vLLM without a flush that answers some requests
// by a status; n counts those of a method and path, from 1 on.
func failing(t *testing.T, status int, fails func(what string, n int, body []byte) bool) *doctor.Report {
	t.Helper()
	behind, seen := serve(t, sim.Config{}), map[string]int{}
	return examine(t, sim.Config{}, func(c *doctor.Config) {
		c.Dial = proxy(t, behind, func(p *httputil.ReverseProxy, s *http.Server) {
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				what := r.Method + " " + r.URL.Path
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if seen[what]++; fails(what, seen[what], body) {
					w.WriteHeader(status)
					_, _ = io.WriteString(w, `{"error":{"message":"so it is"}}`)
					return
				}
				p.ServeHTTP(w, r)
			})
		})
	})
}

// One request that fails by chance is told as such, whichever it is: nothing is
// said to be wrong with what it asked for.
func TestOneFailureByChance(t *testing.T) {
	const generations = 10 // and then one without a prompt, which is to fail
	for n := range generations + 2 {
		synctest.Test(t, func(t *testing.T) {
			done := 0
			report := failing(t, 500, func(what string, i int, _ []byte) bool {
				if what == "POST /v1/completions" {
					done++
					return i == n+1
				}
				return false
			})
			want := []string{"warn development-mode", "warn flush", "fault failures"}
			if n >= generations {
				want = want[:2]
			}
			if got := wrong(report); !slices.Equal(got, want) || done < generations+1 {
				t.Errorf("%d of %d fails: %q, want %q", n+1, done, got, want)
			}
		})
	}
}

// What fails for another reason than what it asks for says nothing of that, and
// no server is to be changed for it.
func TestFailuresThatPass(t *testing.T) {
	salted := func(body []byte) bool { return bytes.Contains(body, []byte("cache_salt")) }
	const (
		noStats = " → start the server without --disable-log-stats, and attach to it directly"
		again   = " → look again when the server serves: it may be loading, or have more to do than it can; else see its log"
	)
	gone := false
	for _, row := range []struct {
		name   string
		status int
		fails  func(what string, n int, body []byte) bool
		want   []string
	}{
		{"no metrics", 404, func(what string, _ int, _ []byte) bool { return what == "GET /metrics" }, []string{
			"warn queue-gauges: the server does not tell how many requests run" + noStats + "; else nobody knows whether the engine was idle before a run",
			"warn metrics: no page of metrics: GET /metrics: 404 Not Found: so it is: the server has no such route" + noStats}},
		{"metrics that are switched off, as llama-server says it", 501, func(what string, _ int, _ []byte) bool { return what == "GET /metrics" }, []string{
			"warn metrics: no page of metrics: GET /metrics: 501 Not Implemented: so it is" + noStats}},
		{"a server that loads again", 503, func(what string, _ int, _ []byte) bool { return what == "GET /metrics" }, []string{
			"unknown queue-gauges: load of vllm: GET /metrics: 503 Service Unavailable: so it is" + again,
			"unknown metrics: no page of metrics: GET /metrics: 503 Service Unavailable: so it is" + again}},
		{"a salt that breaks the server", 500, func(_ string, _ int, body []byte) bool { return salted(body) }, []string{
			"fault cache-salt: a request with it fails: POST /v1/completions: 500 Internal Server Error: so it is → have the server take the field cache_salt, or flush: without a flush every request of a run carries it"}},
		{"a server that is broken by then", 500, func(_ string, _ int, body []byte) bool { gone = gone || salted(body); return gone }, []string{
			"unknown cache-salt: a request with it fails, and so does one without it: POST /v1/completions: 500 Internal Server Error: so it is" + again,
			"unknown metrics: no page of metrics: GET /metrics: 500 Internal Server Error: so it is" + again}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				report := failing(t, row.status, row.fails)
				for _, want := range row.want {
					name, _, _ := strings.Cut(want[strings.IndexByte(want, ' ')+1:], ":")
					if got := report.Find(name).String(); got != want {
						t.Errorf("got  %s\nwant %s", got, want)
					}
				}
			})
		})
	}
}
