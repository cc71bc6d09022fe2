package sim_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// Faults that show in a single answer.
func TestFaultsOfTheServerShowInItsAnswers(t *testing.T) {
	const (
		ids   = `{"prompt":[1,2,3],"max_tokens":8,"ignore_eos":true}`
		text  = `{"prompt":"a b","max_tokens":8,"ignore_eos":true}`
		salt  = `{"prompt":[1,2,3],"max_tokens":8,"cache_salt":"s"}`
		empty = `{"max_tokens":8,"stream":true}`
	)
	for _, row := range []struct {
		name         string
		fault        sim.Protocol
		method, path string
		body         string
		status       int
		has          string
	}{
		{"too many tokens told", sim.Protocol{Miscount: .25}, "POST", "/v1/completions", ids, 200, `"completion_tokens":10,"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":0},"total_tokens":13`},
		{"too few, in a stream", sim.Protocol{Miscount: -.25}, "POST", "/v1/completions", `{"prompt":[1],"max_tokens":8,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`, 200, `"usage":{"prompt_tokens":1,"total_tokens":7,"completion_tokens":6`},
		{"no metrics", sim.Protocol{NoMetrics: true}, "GET", "/metrics", "", 404, "Not Found"},
		{"no token ids", sim.Protocol{NoTokenIDs: true}, "POST", "/v1/completions", ids, 400, "prompt must be text"},
		{"no token ids, and text", sim.Protocol{NoTokenIDs: true}, "POST", "/v1/completions", text, 200, `"completion_tokens":8`},
		{"no token ids, and no prompt", sim.Protocol{NoTokenIDs: true}, "POST", "/v1/completions", empty, 400, "prompt is missing"},
		{"no salts", sim.Protocol{RejectSalt: true}, "POST", "/v1/completions", salt, 400, "not permitted: cache_salt"},
		{"an error in a stream", sim.Protocol{ErrorsInStreams: true}, "POST", "/v1/completions", empty, 200, "data: {\"error\":{\"message\":\"prompt is missing\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}\n\ndata: [DONE]\n\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := serve(t, sim.Config{Faults: sim.Faults{Protocol: row.fault}})(row.method, row.path, row.body)
			if w.Code != row.status || !strings.Contains(w.Body.String(), row.has) {
				t.Errorf("status %d, body %q; want %d and %q", w.Code, w.Body.String(), row.status, row.has)
			}
		})
	}
}

func TestAClockThatIsAhead(t *testing.T) {
	inBubble(t, sim.Config{Faults: sim.Faults{Protocol: sim.Protocol{ClockOff: time.Hour}}}, func(t *testing.T, m *sim.Memory) {
		r := httptest.NewRequest("POST", "/v1/completions", strings.NewReader(`{"prompt":[1],"max_tokens":1}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		m.Server().Handler().ServeHTTP(w, r)
		at, err := http.ParseTime(w.Header().Get("Date"))
		if err != nil || at.Before(time.Now().Add(59*time.Minute)) {
			t.Errorf("Date is %v (%v), and here it is %v", at, err, time.Now())
		}
		if want := `"created":946688400,`; !strings.Contains(w.Body.String(), want) { // 2000-01-01, 1:00
			t.Errorf("body %s, want %s in it", w.Body, want)
		}
	})
}

// What the server says of its load while a request runs, and after its client
// has gone.
func TestFaultsOfTheLoad(t *testing.T) {
	for _, row := range []struct {
		name                 string
		fault                sim.Protocol
		during, after, later int
	}{
		{"none", sim.Protocol{}, 1, 0, 0},
		{"no load", sim.Protocol{NoLoad: true}, 0, 0, 0},
		{"stale", sim.Protocol{StaleLoad: true}, 1, 1, 0},
		{"working on for those who have gone", sim.Protocol{KeepDropped: true}, 1, 1, 1},
	} {
		for _, flavor := range []sim.Flavor{sim.VLLM, sim.SGLang} {
			t.Run(row.name+" "+string(flavor), func(t *testing.T) {
				cfg := sim.Config{Flavor: flavor, Faults: sim.Faults{Protocol: row.fault}}
				inBubble(t, cfg, func(t *testing.T, m *sim.Memory) {
					running := func(when string, want int) {
						t.Helper()
						if l, err := m.Load(t.Context()); err != nil || l.Running != engines.Known(want) {
							t.Errorf("%s: %+v, %v, want %d running", when, l, err, want)
						}
					}
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						_, _ = m.Generate(ctx, &engines.Request{ID: "r", Tokens: []int32{1}, MaxTokens: 4000, IgnoreEOS: true}, func(engines.Chunk) {})
					}()
					time.Sleep(time.Second)
					running("during", row.during)
					cancel()
					<-ended
					time.Sleep(time.Second)
					running("after", row.after)
					_, _ = m.Generate(t.Context(), &engines.Request{ID: "s", Tokens: []int32{2}, MaxTokens: 1}, func(engines.Chunk) {})
					running("later", row.later)
				})
			})
		}
	}
}

func TestConnectionsThatDoNotStay(t *testing.T) {
	for _, closes := range []bool{false, true} {
		inBubble(t, sim.Config{Faults: sim.Faults{Protocol: sim.Protocol{CloseIdle: closes}}}, func(t *testing.T, m *sim.Memory) {
			client := &http.Client{Transport: &http.Transport{DialContext: m.Dial}}
			defer client.CloseIdleConnections()
			reused := 0
			trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
				if info.Reused {
					reused++
				}
			}}
			for range 3 {
				r, _ := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "GET", "http://sim.invalid/health", nil)
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.Close {
					t.Error("the reply says that it closes the connection")
				}
				time.Sleep(time.Second)
			}
			if want := map[bool]int{false: 2, true: 0}[closes]; reused != want {
				t.Errorf("%d connections were used again, want %d", reused, want)
			}
		})
	}
}

func TestASaltThatIsIgnored(t *testing.T) {
	for _, ignored := range []bool{false, true} {
		cfg := sim.Config{Faults: sim.Faults{IgnoreSalt: ignored}}
		model, err := sim.NewModel(cfg)
		if err != nil {
			t.Fatal(err)
		}
		check := func(t *testing.T, e engines.Engine) {
			r := engines.Request{ID: "r", Tokens: make([]int32, 64), MaxTokens: 1}
			for _, salt := range []string{"a", "b"} {
				r.CacheSalt = salt
				reply, err := e.Generate(t.Context(), &r, func(engines.Chunk) {})
				if want := ignored && salt == "b"; err != nil || (reply.CachedTokens.N > 0) != want {
					t.Errorf("salt %q, ignored %v: %+v cached, %v", salt, ignored, reply.CachedTokens, err)
				}
			}
		}
		check(t, model)
		inBubble(t, cfg, func(t *testing.T, m *sim.Memory) { check(t, m) })
	}
}
