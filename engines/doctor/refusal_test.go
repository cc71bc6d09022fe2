package doctor_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
)

// What ends an examination early, with the last finding.
func TestWhatCannotBeExamined(t *testing.T) {
	models := func(body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	}
	status := func(code int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, body) })
	}
	const two = `{"data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"vllm"}]}`
	for _, row := range []struct {
		name    string
		handler http.Handler
		config  doctor.Config
		verdict doctor.Verdict
		finding string
	}{
		{"HTML", models("<html><title>Welcome</title></html>"), doctor.Config{}, doctor.NotMeasurable,
			`fault api: GET URL/v1/models: no JSON came but an HTML page ("Welcome"): is this the root of the server's API? → correct the URL: it must be the root of a server with OpenAI's routes`},
		{"no such route", status(404, "404 page not found"), doctor.Config{}, doctor.NotMeasurable,
			"fault api: GET URL/v1/models: 404 Not Found: 404 page not found: the server has no such route → correct the URL: it must be the root of a server with OpenAI's routes"},
		{"a path that is too long", status(404, "404 page not found"), doctor.Config{URL: "/foo"}, doctor.NotMeasurable,
			"fault api: GET URL/foo/v1/models: 404 Not Found: 404 page not found: the server has no such route → correct the URL: it must be the root of a server with OpenAI's routes"},
		{"a key missing", status(401, `{"error":"Unauthorized"}`), doctor.Config{}, doctor.NotMeasurable,
			"fault key: GET /v1/models: status 401: no key was sent → set OPENLOOP_API_KEY to the server's key"},
		{"a wrong key", status(401, `{"error":"no: sesame-open"}`), doctor.Config{APIKey: "sesame-open"}, doctor.NotMeasurable,
			"fault key: GET /v1/models: status 401: the key that was sent is refused → correct OPENLOOP_API_KEY: it must be the server's key"},
		{"a key in an error", status(500, `{"error":"no: sesame-open"}`), doctor.Config{APIKey: "sesame-open"}, doctor.NotMeasurable,
			"fault api: GET URL/v1/models: 500 Internal Server Error: no: [redacted] → correct the URL: it must be the root of a server with OpenAI's routes"},
		{"loading", status(503, "loading model"), doctor.Config{}, doctor.NotMeasurable,
			"fault api: GET /v1/models: 503 Service Unavailable: loading model → wait until it has loaded its model"},
		{"no model", models(`{"data":[]}`), doctor.Config{Kind: "openai"}, doctor.NotMeasurable,
			"fault model: it serves none → start the server with a model"},
		{"two models", models(two), doctor.Config{}, doctor.NotMeasurable,
			`fault model: it serves "a", "b" → name one of them (-model NAME, or OPENLOOP_MODEL)`},
		{"another model", models(two), doctor.Config{Model: "c"}, doctor.NotMeasurable,
			`fault model: it serves "a", "b", not "c" → ask for what it serves (-model NAME, or OPENLOOP_MODEL), or correct the URL`},
		{"another kind", models(two), doctor.Config{Kind: "sglang"}, doctor.NotMeasurable,
			"fault kind: vllm, expected sglang → correct the URL, or ask for what is there"},
		{"a name that acts on the terminal", models(`{"data":[{"id":"a\u001b[2J\nb","owned_by":"vllm"},{"id":"b"}]}`), doctor.Config{}, doctor.NotMeasurable,
			`fault model: it serves "a\x1b[2J\nb", "b" → name one of them (-model NAME, or OPENLOOP_MODEL)`},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewServer(row.handler)
			defer server.Close()
			row.config.URL = server.URL + row.config.URL
			row.finding = strings.ReplaceAll(row.finding, "URL/", server.URL+"/")
			var found []doctor.Finding
			row.config.Found = func(f doctor.Finding) { found = append(found, f) }
			report, err := doctor.Examine(t.Context(), row.config)
			if err != nil {
				t.Fatal(err)
			}
			last := report.Findings[len(report.Findings)-1]
			if report.Verdict() != row.verdict || !report.Stopped || last.String() != row.finding {
				t.Errorf("%s, stopped %v\ngot  %s\nwant %s", report.Verdict(), report.Stopped, last, row.finding)
			}
			if !slices.Equal(found, report.Findings) {
				t.Errorf("told %v", found)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	ssh, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ssh.Close()
	go func() {
		for {
			c, err := ssh.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1)) // which makes what follows an answer
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n")
			_ = c.Close()
		}
	}()
	for _, row := range []struct {
		name, url string
		has       []string
	}{
		{"nobody listens", gone.URL, []string{"GET /v1/models: connection refused", "→ start the server, correct the URL"}},
		{"a certificate nobody trusts", secure.URL, []string{"certificate", "→ trust its certificate on this host (SSL_CERT_FILE"}},
		{"TLS asked of a plain server", strings.Replace(plain.URL, "http://", "https://", 1), []string{"the server does not speak TLS: use http:// in the URL"}},
		{"another protocol", "http://" + ssh.Addr().String(), []string{`what answers does not speak HTTP (it says "SSH-2.0-OpenSSH_9.6"): correct the URL`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			report, err := doctor.Examine(t.Context(), doctor.Config{URL: row.url, APIKey: "sesame-open"})
			if err != nil {
				t.Fatal(err)
			}
			if report.Verdict() != doctor.Unreachable || len(report.Findings) != 1 || report.Findings[0].Name != "reach" {
				t.Fatalf("%s: %v", report.Verdict(), report.Findings)
			}
			for _, part := range row.has {
				if got := report.Findings[0].String(); !strings.Contains(got, part) {
					t.Errorf("%s\nlacks %q", got, part)
				}
			}
		})
	}
	t.Run("a certificate that is trusted", func(t *testing.T) {
		roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		report, err := doctor.Examine(t.Context(), doctor.Config{URL: secure.URL, TLS: &tls.Config{RootCAs: roots}})
		if err != nil || report.Find("reach").Status != doctor.OK {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func TestAConfigurationThatCannotBeUsed(t *testing.T) {
	for _, row := range []struct {
		config doctor.Config
		want   string
	}{
		{doctor.Config{Kind: "tgi", Patience: -1}, "doctor: Config.URL must be the root of a server, as in http://127.0.0.1:8000, got nothing\n" +
			"doctor: Config.Kind must be one of vllm, sglang, llamacpp, openai, got \"tgi\"\n" +
			"doctor: Config.Patience must not be negative, got -1ns"},
		{doctor.Config{URL: "localhost:8000"}, "doctor: "},
	} {
		report, err := doctor.Examine(t.Context(), row.config)
		if report != nil || err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%+v, %v; want %s", report, err, row.want)
		}
	}
}

// An end from outside leaves what was found until then.
func TestAnExaminationThatIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")
		c := doctor.Config{URL: "http://server.invalid", Dial: serve(t, sim.Config{}), Found: func(f doctor.Finding) {
			if f.Name == "stream" {
				cancel(why)
			}
		}}
		report, err := doctor.Examine(ctx, c)
		if !errors.Is(err, why) || report == nil || !report.Stopped || report.Verdict() == doctor.Measurable {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// A key that is right reaches every request, and no finding.
func TestKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, flavor := range []sim.Flavor{sim.VLLM, sim.SGLang} {
			report := examine(t, sim.Config{Flavor: flavor, DevMode: true, APIKey: "sesame-open"}, nil)
			if got := wrong(report); got != nil {
				t.Errorf("%s: %q", flavor, got)
			}
			if b, _ := json.Marshal(report); strings.Contains(string(b), "sesame") {
				t.Errorf("%s", b)
			}
		}
	})
}

// Chat, and a kind that is not looked at as itself.
func TestOtherWaysToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := examine(t, sim.Config{DevMode: true}, func(c *doctor.Config) { c.Chat = true })
		if got, want := wrong(report), []string{"warn token-ids"}; !slices.Equal(got, want) {
			t.Errorf("chat: %q, want %q", got, want)
		}
		report = examine(t, sim.Config{DevMode: true}, func(c *doctor.Config) { c.KeepCache = true })
		if got, want := wrong(report), []string{"unknown flush"}; !slices.Equal(got, want) {
			t.Errorf("the cache is kept: %q, want %q", got, want)
		}
		report = examine(t, sim.Config{DevMode: true}, func(c *doctor.Config) { c.Kind = "openai" })
		want := []string{"unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "unknown metrics"}
		if got := wrong(report); report.Kind != "openai" || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", report.Kind, got, want)
		}
		report = examine(t, sim.Config{Flavor: sim.TensorRTLLM}, func(c *doctor.Config) { c.Chat = true })
		want = []string{"warn token-ids", "unknown routes", "unknown idle", "unknown token-counts", "warn queue-gauges", "unknown cancel", "warn flush", "unknown metrics"}
		if got := wrong(report); report.Find("cache-salt").Status != doctor.OK || !slices.Equal(got, want) {
			t.Errorf("a chat on TensorRT-LLM: %q, want %q", got, want)
		}
	})
}
