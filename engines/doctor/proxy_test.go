package doctor_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/sim"
)

// proxy serves a reverse proxy before a server, both in memory; with changes
// it.
func proxy(t *testing.T, behind dialer, with func(*httputil.ReverseProxy, *http.Server)) dialer {
	t.Helper()
	transport := &http.Transport{DialContext: behind, DisableCompression: true}
	target, _ := url.Parse("http://server.invalid")
	p := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			// Read whole: an answer that comes first would close it.
			if body, err := io.ReadAll(r.In.Body); err == nil {
				send(r, body)
			}
		},
		Transport:     transport,
		FlushInterval: -1,
	}
	quiet := log.New(io.Discard, "", 0)
	p.ErrorLog = quiet
	server := &http.Server{Handler: p, ErrorLog: quiet}
	with(p, server)
	pipes := servertest.Listen()
	go func() { _ = server.Serve(pipes) }()
	t.Cleanup(func() { _ = server.Close(); transport.CloseIdleConnections() })
	return pipes.Dial
}

// rebody replaces a stream's body.
func rebody(p *httputil.ReverseProxy, with func(*http.Response) io.Reader) {
	p.ModifyResponse = func(r *http.Response) error {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			r.Body = &body{with(r), r.Body}
		}
		return nil
	}
}

// body is a stream that was changed.
type body struct {
	io.Reader
	behind io.Closer
}

func (b *body) Close() error {
	if c, ok := b.Reader.(io.Closer); ok {
		_ = c.Close()
	}
	return b.behind.Close()
}

// edit changes the JSON of requests.
func edit(p *httputil.ReverseProxy, with func(map[string]any)) {
	rewrite := p.Rewrite
	p.Rewrite = func(r *httputil.ProxyRequest) {
		rewrite(r)
		body, _ := io.ReadAll(r.Out.Body)
		var o map[string]any
		if json.Unmarshal(body, &o) == nil {
			with(o)
			body, _ = json.Marshal(o)
		}
		send(r, body)
	}
}

// send sets the body of the request that a proxy sends.
func send(r *httputil.ProxyRequest, body []byte) {
	r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// starting is a server that serves and yet answers so many questions for its
// health by 503.
func starting(behind http.Handler, n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n > 0 && r.URL.Path == "/health" {
			n--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		behind.ServeHTTP(w, r)
	})
}

// What is between the client and a server that is as it should be.
func TestProxies(t *testing.T) {
	for _, row := range []struct {
		name    string
		with    func(*httputil.ReverseProxy, *http.Server)
		verdict doctor.Verdict
		wrong   []string
	}{
		{"a proxy that passes everything on", func(*httputil.ReverseProxy, *http.Server) {}, doctor.Measurable, nil},
		{"a buffering proxy", func(p *httputil.ReverseProxy, _ *http.Server) {
			rebody(p, func(r *http.Response) io.Reader { return &held{from: r.Body} })
		}, doctor.NotMeasurable, []string{"fault buffering"}},
		{"a proxy that passes on in blocks", func(p *httputil.ReverseProxy, _ *http.Server) {
			rebody(p, func(r *http.Response) io.Reader { return blocks{r.Body, 1024} })
		}, doctor.Measurable, []string{"warn buffering"}},
		{"a compressing proxy", func(p *httputil.ReverseProxy, _ *http.Server) {
			rebody(p, func(r *http.Response) io.Reader { return compressed(r, false) })
		}, doctor.NotMeasurable, []string{"warn compression", "fault buffering"}},
		{"a compressing proxy that flushes", func(p *httputil.ReverseProxy, _ *http.Server) {
			rebody(p, func(r *http.Response) io.Reader { return compressed(r, true) })
		}, doctor.Measurable, []string{"warn compression"}},
		{"a proxy that compresses by br", func(p *httputil.ReverseProxy, _ *http.Server) {
			rebody(p, func(r *http.Response) io.Reader {
				r.Header.Set("Content-Encoding", "br")
				return r.Body
			})
		}, doctor.NotMeasurable, []string{"fault stream"}},
		{"a proxy that closes each connection", func(_ *httputil.ReverseProxy, s *http.Server) {
			s.SetKeepAlivesEnabled(false)
		}, doctor.Measurable, []string{"warn keep-alive"}},
		{"a proxy that names itself", func(p *httputil.ReverseProxy, _ *http.Server) {
			p.ModifyResponse = func(r *http.Response) error { r.Header.Set("Via", "1.1 varnish"); return nil }
		}, doctor.Measurable, []string{"warn http"}},
		{"a proxy that does not hear its client go", func(p *httputil.ReverseProxy, _ *http.Server) {
			p.Transport = deaf{p.Transport}
		}, doctor.Measurable, []string{"warn cancel"}},
		{"a gateway that takes usage away", func(p *httputil.ReverseProxy, _ *http.Server) {
			edit(p, func(o map[string]any) { delete(o, "stream_options"); delete(o, "return_token_ids") })
		}, doctor.NotMeasurable, []string{"fault usage", "unknown token-counts", "unknown output-length", "unknown tokens-per-event", "warn cached-tokens", "unknown counters"}},
		{"a gateway that sends to another model", func(p *httputil.ReverseProxy, _ *http.Server) {
			rebody(p, func(r *http.Response) io.Reader {
				return &replaced{from: r.Body, old: "Meta-Llama-3-8B-Instruct", new: "Meta-Llama-3-1B-Instruct"}
			})
		}, doctor.NotMeasurable, []string{"fault attach"}},
		{"a server that says for a while that it starts", func(p *httputil.ReverseProxy, s *http.Server) {
			s.Handler = starting(p, 5)
		}, doctor.Measurable, nil},
		{"a server that says for ever that it starts", func(p *httputil.ReverseProxy, s *http.Server) {
			s.Handler = starting(p, math.MaxInt)
		}, doctor.Measurable, []string{"warn health"}},
		{"a gateway that hides the server", func(p *httputil.ReverseProxy, s *http.Server) {
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/v1/models":
					_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"meta-llama/Meta-Llama-3-8B-Instruct","owned_by":"acme"}]}`)
				case strings.HasPrefix(r.URL.Path, "/v1/"):
					p.ServeHTTP(w, r)
				default:
					http.NotFound(w, r)
				}
			})
		}, doctor.Measurable, []string{"warn kind", "unknown version", "unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "warn flush", "unknown metrics"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				behind := serve(t, sim.Config{DevMode: true})
				report := examine(t, sim.Config{}, func(c *doctor.Config) { c.Dial = proxy(t, behind, row.with) })
				if got := wrong(report); report.Verdict() != row.verdict || !slices.Equal(got, row.wrong) {
					t.Errorf("%s: %q; want %s: %q", report.Verdict(), got, row.verdict, row.wrong)
				}
				golden(t, row.name, text(report))
			})
		})
	}
}
