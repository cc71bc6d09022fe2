package sim_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// What a repeated prompt is served by the cache: its whole blocks, and never
// its last token, which is computed for what follows it. Both forms agree.
func TestBlocksOfEachFlavor(t *testing.T) {
	for _, row := range []struct {
		name   string
		cfg    sim.Config
		prompt int
		cached int
	}{
		{"vLLM", sim.Config{}, 300, 288},
		{"vLLM, a prompt of whole blocks", sim.Config{}, 64, 48},
		{"vLLM on a processor", sim.Config{BlockTokens: 128}, 300, 256},
		{"vLLM on a processor, a short prompt", sim.Config{BlockTokens: 128}, 127, 0},
		{"SGLang", sim.Config{Flavor: sim.SGLang}, 300, 299},
		{"SGLang with larger pages", sim.Config{Flavor: sim.SGLang, BlockTokens: 64}, 300, 256},
		{"TensorRT-LLM", sim.Config{Flavor: sim.TensorRTLLM}, 300, 288},
	} {
		t.Run(row.name, func(t *testing.T) {
			check := func(t *testing.T, e engines.Engine) {
				for _, want := range []int{0, row.cached, row.cached} {
					reply, err := e.Generate(t.Context(), ask("x", row.prompt, 20), func(engines.Chunk) {})
					if err != nil || reply.CachedTokens != engines.Known(want) {
						t.Errorf("%+v cached of %d, %v; want %d", reply.CachedTokens, row.prompt, err, want)
					}
				}
			}
			model, err := sim.NewModel(row.cfg)
			if err != nil {
				t.Fatal(err)
			}
			check(t, model)
			inBubble(t, row.cfg, func(t *testing.T, m *sim.Memory) { check(t, m) })
		})
	}
}

// An answer follows from its prompt, whatever the blocks of the cache.
func TestAnswersDoNotDependOnBlocks(t *testing.T) {
	answer := func(size int) string {
		w := serve(t, sim.Config{BlockTokens: size})("POST", "/v1/completions", `{"prompt":[9,8,7],"max_tokens":40,"ignore_eos":true}`)
		_, text, _ := strings.Cut(w.Body.String(), `"text":`)
		return text
	}
	want := answer(0)
	for _, size := range []int{1, 5, 128} {
		if got := answer(size); got != want || got == "" {
			t.Errorf("blocks of %d: %s, want %s", size, got, want)
		}
	}
}

// TensorRT-LLM has no flush, tells neither load nor counters to a client that
// knows of no kind, and refuses a salt; in both forms.
func TestTensorRTLLM(t *testing.T) {
	cfg := sim.Config{Flavor: sim.TensorRTLLM, Faults: sim.Faults{LoadingFor: time.Second}}
	check := func(t *testing.T, e interface {
		engines.Engine
		engines.Flusher
		engines.Loader
		engines.Scraper
	}) {
		f, err := e.Flush(t.Context())
		if err != nil || f.Outcome != engines.FlushUnsupported || !f.Saltless || f.Remedy == "" {
			t.Errorf("flush: %+v, %v", f, err)
		}
		if l, err := e.Load(t.Context()); err != nil || l != (engines.Load{}) {
			t.Errorf("load: %+v, %v", l, err)
		}
		if c, err := e.Scrape(t.Context()); err != nil || c.Instance == "" || c.PromptTokens.Known {
			t.Errorf("counters: %+v, %v", c, err)
		}
		salted := ask("x", 10, 2)
		salted.CacheSalt = "s"
		if reply, err := e.Generate(t.Context(), salted, func(engines.Chunk) {}); class(err) != engines.Status || reply.Status != 400 {
			t.Errorf("a salt: %+v, %v", reply, err)
		}
		if _, err := e.Generate(t.Context(), ask("x", 10, 2), func(engines.Chunk) {}); err != nil {
			t.Error(err)
		}
	}
	model, err := sim.NewModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	check(t, model)
	inBubble(t, cfg, func(t *testing.T, m *sim.Memory) {
		check(t, m)
		if err := m.Restart(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := m.Generate(t.Context(), ask("y", 10, 2), func(engines.Chunk) {}); err != nil {
			t.Errorf("after a restart: %v", err)
		}
	})
}

// SGLang waits for idleness as long as it is told, and says that it did.
func TestWordsOfSGLangsRefusal(t *testing.T) {
	for _, row := range []struct {
		path string
		want string
		took time.Duration
	}{
		{"/flush_cache", "Flush cache failed.\n", 0},
		{"/flush_cache?timeout=0.5", "Timed out waiting for idle state.", 500 * time.Millisecond},
	} {
		inBubble(t, sim.Config{Flavor: sim.SGLang}, func(t *testing.T, m *sim.Memory) {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = m.Generate(t.Context(), ask("x", 10, 500), func(engines.Chunk) {})
			}()
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			code, kind, body := flushBy(m, row.path)
			if took := time.Since(began); code != 400 || body != row.want || kind != "" || took != row.took {
				t.Errorf("%s: status %d, %q of type %q after %v; want 400, %q, no type, after %v", row.path, code, body, kind, took, row.want, row.took)
			}
			<-ended
			if code, _, body := flushBy(m, row.path); code != 200 {
				t.Errorf("%s when idle: status %d, %q", row.path, code, body)
			}
		})
	}
}

func flushBy(m *sim.Memory, path string) (code int, kind, body string) {
	w := httptest.NewRecorder()
	m.Server().Handler().ServeHTTP(w, httptest.NewRequest("POST", path, nil))
	return w.Code, w.Header().Get("Content-Type"), w.Body.String()
}
