package server

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/launch"
)

func vllmLike(models ...string) *servertest.Server {
	return &servertest.Server{Owner: "vllm", Models: models}
}

func TestAttach(t *testing.T) {
	replies := func(route string, r ...servertest.Reply) map[string][]servertest.Reply {
		return map[string][]servertest.Reply{route: r}
	}
	tests := []struct {
		name   string
		server *servertest.Server
		config launch.Config
		model  string // the served name that is asked for afterwards
		err    string // in which URL stands for the server's
	}{
		{"the only model", vllmLike("m"), launch.Config{}, "m", ""},
		{"the model asked for", vllmLike("a", "b"), launch.Config{Model: "b"}, "b", ""},
		{"the path behind the name", &servertest.Server{Owner: "vllm", Models: []string{"short"},
			Roots: map[string]string{"short": "org/long"}}, launch.Config{Model: "org/long"}, "short", ""},
		{"a chat", vllmLike("m"), launch.Config{Chat: true}, "m", ""},
		{"with its key", &servertest.Server{Owner: "vllm", Models: []string{"m"}, Key: "sesame"},
			launch.Config{APIKey: "sesame"}, "m", ""},
		{"loading at first", &servertest.Server{Owner: "vllm", Models: []string{"m"},
			Routes: replies("POST /v1/completions", servertest.Text(503, "loading"), servertest.Reply{})},
			launch.Config{}, "m", ""},
		{"known by /version, its owner hidden", &servertest.Server{Owner: "gateway", Models: []string{"m"},
			Routes: replies("GET /version", servertest.JSON(`{"version":"0.30.0"}`))}, launch.Config{}, "m", ""},

		{"TensorRT-LLM, which has a /version too", &servertest.Server{Owner: "tensorrt_llm", Models: []string{"m"},
			Routes: replies("GET /version", servertest.JSON(`{"version":"1.2.0"}`))}, launch.Config{}, "",
			`attach vllm: URL (Config.URL) is a server of kind TensorRT-LLM, whose models are owned by "tensorrt_llm", want vllm: attach engines/openai to it, or set OPENLOOP_VLLM_URL to a server of this kind`},
		{"several models, none named", vllmLike("a", "b"), launch.Config{}, "",
			`attach vllm: URL (Config.URL): it serves "a", "b": name one of them in Config.Model or OPENLOOP_MODEL`},
		{"no model", vllmLike(), launch.Config{}, "",
			`attach vllm: URL (Config.URL) serves no model: start it with one`},
		{"another model", vllmLike("a"), launch.Config{Model: "b"}, "",
			`attach vllm: URL (Config.URL): it serves "a", want "b": ask for what it serves in Config.Model or OPENLOOP_MODEL, or point the URL elsewhere`},
		{"another model answers", &servertest.Server{Owner: "vllm", Models: []string{"a"}, Answers: "b"}, launch.Config{}, "",
			`attach vllm: URL (Config.URL): model "b" answered, want "a": something between here and the server sends requests elsewhere`},
		{"SGLang, by its owner", &servertest.Server{Owner: "sglang", Models: []string{"m"}}, launch.Config{}, "",
			`attach vllm: URL (Config.URL) is a server of kind sglang, want vllm: set OPENLOOP_VLLM_URL to a server of this kind, or use engines/sglang`},
		{"SGLang, by its route", &servertest.Server{Models: []string{"m"},
			Routes: replies("GET /model_info", servertest.JSON(`{"model_path":"m","tokenizer_path":"m"}`))}, launch.Config{}, "",
			`attach vllm: URL (Config.URL) is a server of kind sglang, want vllm: set OPENLOOP_VLLM_URL to a server of this kind, or use engines/sglang`},
		{"an older SGLang", &servertest.Server{Models: []string{"m"},
			Routes: replies("GET /get_model_info", servertest.JSON(`{"model_path":"m","tokenizer_path":"m"}`))}, launch.Config{}, "",
			`attach vllm: URL (Config.URL) is a server of kind sglang, want vllm: set OPENLOOP_VLLM_URL to a server of this kind, or use engines/sglang`},
		{"llama.cpp, by its route", &servertest.Server{Models: []string{"m"},
			Routes: replies("GET /props", servertest.JSON(`{"total_slots":4,"build_info":"b9999-abc"}`))}, launch.Config{}, "",
			`attach vllm: URL (Config.URL) is a server of kind llamacpp, want vllm: set OPENLOOP_VLLM_URL to a server of this kind, or use engines/llamacpp`},
		{"unknown", &servertest.Server{Owner: "acme", Models: []string{"m"}}, launch.Config{}, "",
			`attach vllm: URL (Config.URL) is a server of unknown kind, whose models are owned by "acme", want vllm: attach engines/openai to it, or set OPENLOOP_VLLM_URL to a server of this kind`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := httptest.NewServer(test.server)
			defer h.Close()
			test.config.URL = h.URL
			s, err := Attach(t.Context(), testKind(), test.config)
			if test.err != "" {
				if err == nil {
					t.Fatalf("attached, want %s", test.err)
				}
				if got := strings.ReplaceAll(err.Error(), h.URL, "URL"); got != test.err {
					t.Errorf("got  %s\nwant %s", got, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Client().Model(); got != test.model {
				t.Errorf("model %q, want %q", got, test.model)
			}
			if err := s.Restart(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "restart vllm: "+h.URL+" was attached to") {
				t.Errorf("Restart() = %v", err)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}

// What is wrong at the other end is said in one sentence with the address,
// and at once.
func TestAttachToWhatDoesNotAnswer(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	html := &servertest.Server{Routes: map[string][]servertest.Reply{
		"GET /v1/models": {{Body: "<html><title>Welcome</title></html>", Type: "text/html"}},
	}}
	tests := []struct {
		name   string
		server *servertest.Server
		config launch.Config
		want   []string
	}{
		{"refused connection", nil, launch.Config{URL: gone.URL}, []string{"attach vllm: ", gone.URL, "refused"}},
		{"HTML", html, launch.Config{}, []string{"attach vllm: ", "/v1/models", "html"}},
		{"wrong key", &servertest.Server{Owner: "vllm", Models: []string{"m"}, Key: "right"},
			launch.Config{APIKey: "wrong-key"}, []string{"attach vllm: ", "401"}},
		{"no such URL", nil, launch.Config{URL: "localhost:8000"}, []string{"attach vllm: ", "localhost:8000"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.server != nil {
				h := httptest.NewServer(test.server)
				defer h.Close()
				test.config.URL = h.URL
			}
			_, err := Attach(t.Context(), testKind(), test.config)
			if err == nil {
				t.Fatal("attached")
			}
			for _, part := range test.want {
				if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(part)) {
					t.Errorf("got %s\nwant it to say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "wrong-key") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %s", err)
			}
		})
	}
}

func TestUserInformationIsInNoMessage(t *testing.T) {
	h := httptest.NewServer(&servertest.Server{Owner: "sglang", Models: []string{"m"}})
	defer h.Close()
	url := strings.Replace(h.URL, "http://", "http://somebody:sesame-open@", 1)
	_, err := Attach(t.Context(), testKind(), launch.Config{URL: url})
	if err == nil || strings.Contains(err.Error(), "sesame") || !strings.Contains(err.Error(), h.URL+" (Config.URL) is a server of kind sglang") {
		t.Errorf("got %v", err)
	}
}

func TestAttachGivesUpOnALoadingServer(t *testing.T) {
	h := httptest.NewServer(&servertest.Server{Routes: map[string][]servertest.Reply{
		"GET /v1/models": {servertest.Text(503, "loading model")},
	}})
	defer h.Close()
	_, err := Attach(t.Context(), testKind(), launch.Config{URL: h.URL, StartBudget: 50 * time.Millisecond})
	if err == nil || !strings.HasPrefix(err.Error(), "attach vllm: not ready after 50ms: ") ||
		!strings.HasSuffix(err.Error(), "; raise Config.StartBudget if it only needs longer") {
		t.Errorf("got %v", err)
	}
}

func TestURLsInOrder(t *testing.T) {
	serve := func(model string) string {
		h := httptest.NewServer(vllmLike(model))
		t.Cleanup(h.Close)
		return h.URL
	}
	code, kind, general := serve("code"), serve("kind"), serve("general")
	tests := []struct {
		name                string
		code, kind, general string
		want                string
	}{
		{"Config.URL first", code, kind, general, "code"},
		{"then the kind's", "", kind, general, "kind"},
		{"then the general one", "", "", general, "general"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("OPENLOOP_VLLM_URL", test.kind)
			t.Setenv("OPENLOOP_ENGINE_URL", test.general)
			for _, open := range []func() (*Server, error){
				func() (*Server, error) { return Attach(t.Context(), testKind(), launch.Config{URL: test.code}) },
				func() (*Server, error) { return Launch(t.Context(), testKind(), launch.Config{URL: test.code}) },
			} {
				s, err := open()
				if err != nil {
					t.Fatal(err)
				}
				if got := s.Client().Model(); got != test.want {
					t.Errorf("attached to %q, want %q", got, test.want)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		_, err := Attach(t.Context(), testKind(), launch.Config{Model: "m"})
		const want = "attach vllm: no URL: set Config.URL, OPENLOOP_VLLM_URL or OPENLOOP_ENGINE_URL"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
	t.Run("OPENLOOP_MODEL overrides the model", func(t *testing.T) {
		t.Setenv("OPENLOOP_MODEL", "kind")
		if _, err := Attach(t.Context(), testKind(), launch.Config{URL: kind, Model: "asked"}); err != nil {
			t.Error(err)
		}
	})
}
