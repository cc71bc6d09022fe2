package llamacpp_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/llamacpp"
)

// What llama-server answers, as its documentation and its replies have it.
const (
	props = `{"default_generation_settings":{"params":{"temperature":0.8},"n_ctx":1024},"total_slots":4,
		"model_alias":"m","model_ftype":"Q4_K - Medium","model_path":"/models/m.gguf","endpoint_slots":true,
		"endpoint_metrics":true,"chat_template":"{{ x }}","build_info":"b9931-abc1234","is_sleeping":false}`
	notStarted = `{"error":{"code":501,"message":"This server does not support metrics endpoint. Start it with ` + "`--metrics`" + `","type":"not_supported_error"}}`
	noActions  = `{"error":{"code":501,"message":"This server does not support slots action. Start it with ` + "`--slot-save-path`" + `","type":"not_supported_error"}}`
)

// attach attaches to a server that answers as routes say.
func attach(t *testing.T, cfg llamacpp.Config, routes map[string]servertest.Reply) (*llamacpp.Engine, *servertest.Server) {
	t.Helper()
	s := &servertest.Server{Owner: "llamacpp", Models: []string{"m"}, Routes: map[string][]servertest.Reply{
		"GET /props": {servertest.JSON(props)},
	}}
	for route, reply := range routes {
		s.Routes[route] = []servertest.Reply{reply}
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	cfg.URL = h.URL
	e, err := llamacpp.Attach(t.Context(), cfg)
	require.NoError(t, err)
	return e, s
}

// erasing answers the erasure of every slot.
func erasing(tokens ...string) map[string]servertest.Reply {
	routes := map[string]servertest.Reply{}
	for i, n := range tokens {
		slot := string(rune('0' + i))
		routes["POST /slots/"+slot] = servertest.JSON(`{"id_slot":` + slot + `,"n_erased":` + n + `}`)
	}
	return routes
}

func TestFlush(t *testing.T) {
	const (
		first   = "POST /slots/0?action=erase: "
		all     = "POST /slots/{0…3}?action=erase: 1745 tokens erased"
		noErase = "start the server with --slot-save-path DIR and --cache-ram 0; what cached tokens say of each request holds without a flush"
		noReply = "this is no answer of llama-server's: attach to the server itself"
	)
	only := func(reply servertest.Reply) map[string]servertest.Reply {
		return map[string]servertest.Reply{"POST /slots/0": reply}
	}
	tests := []struct {
		name   string
		config llamacpp.Config
		routes map[string]servertest.Reply
		want   engines.Flush
	}{
		{"every slot, and no request reads a cache", llamacpp.Config{}, erasing("1000", "0", "745", "0"),
			engines.Flush{Outcome: engines.Flushed, Detail: all}},
		{"every slot, and there may be a cache in memory", llamacpp.Config{PromptCache: true}, erasing("1000", "0", "745", "0"),
			engines.Flush{Outcome: engines.FlushUnverified, Detail: all,
				Remedy: "the slots are empty, and there may be a cache in the host's memory, which nothing empties: start the server with --cache-ram 0; cached tokens tell what it served"}},
		{"started without --slot-save-path", llamacpp.Config{}, only(servertest.Reply{Status: 501, Body: noActions}),
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: first + "status 501, This server does not support slots action. Start it with `--slot-save-path`", Remedy: noErase}},
		{"hidden by a gateway", llamacpp.Config{}, only(servertest.Reply{Status: 404, Body: "{}"}),
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: first + "status 404, {}", Remedy: noErase}},
		{"a page of a proxy", llamacpp.Config{}, only(servertest.Reply{Type: "text/html", Body: "<html>\n <b>hello</b>\n</html>"}),
			engines.Flush{Outcome: engines.FlushUnverified, Detail: first + "status 200, an HTML page", Remedy: noReply}},
		{"no number of tokens", llamacpp.Config{}, only(servertest.JSON(`{"id_slot":0}`)),
			engines.Flush{Outcome: engines.FlushUnverified, Detail: first + `status 200, {"id_slot":0}`, Remedy: noReply}},
		{"in trouble", llamacpp.Config{}, only(servertest.Reply{Status: 500, Body: `{"error":{"code":500}}`}),
			engines.Flush{Outcome: engines.FlushRefused, Detail: first + `status 500, {"code":500}`,
				Remedy: "see the server's log for why the slot was not erased"}},
		{"the number of slots is not told", llamacpp.Config{}, map[string]servertest.Reply{"GET /props": {Status: 404, Body: "{}"}},
			engines.Flush{Outcome: engines.FlushUnsupported, Detail: "GET /props tells no number of slots",
				Remedy: "attach to the llama-server itself; " + noErase}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := attach(t, test.config, test.routes)
			got, err := e.Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
	t.Run("each slot is asked once", func(t *testing.T) {
		e, s := attach(t, llamacpp.Config{}, erasing("1", "2", "3", "4"))
		before := len(s.Seen())
		_, err := e.Flush(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"GET /props", "POST /slots/0?action=erase", "POST /slots/1?action=erase",
			"POST /slots/2?action=erase", "POST /slots/3?action=erase"}, s.Seen()[before:])
	})
	t.Run("a key wanted", func(t *testing.T) {
		e, _ := attach(t, llamacpp.Config{}, only(servertest.Reply{Status: 401, Body: `{"error":"Invalid API Key"}`}))
		_, err := e.Flush(t.Context())
		assert.EqualError(t, err, "flush llamacpp: "+first+`status 401, Invalid API Key: set Config.APIKey to the server's key`)
	})
}

const page = `# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed, excluding cached.
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 21360
# TYPE llamacpp:prompt_tokens_cached_total counter
llamacpp:prompt_tokens_cached_total 990
# TYPE llamacpp:tokens_predicted_total counter
llamacpp:tokens_predicted_total 4319
# TYPE llamacpp:prompt_tokens_seconds gauge
llamacpp:prompt_tokens_seconds 0
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 4
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred 2
`

// older is a page of before the cached tokens were counted.
const older = `# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 21360
# TYPE llamacpp:tokens_predicted_total counter
llamacpp:tokens_predicted_total 4319
`

func TestScrapeAndLoad(t *testing.T) {
	n := engines.Known
	text := func(page string) servertest.Reply {
		return servertest.Reply{Body: page, Type: "text/plain; version=0.0.4"}
	}
	slots := func(busy ...string) servertest.Reply {
		body := "["
		for i, b := range busy {
			if i > 0 {
				body += ","
			}
			body += `{"id":` + string(rune('0'+i)) + `,"n_ctx":1024,"speculative":false,"is_processing":` + b + `}`
		}
		return servertest.JSON(body + "]")
	}
	off := servertest.Reply{Status: 501, Body: notStarted}
	tests := []struct {
		name   string
		config llamacpp.Config
		routes map[string]servertest.Reply
		want   engines.Counters
		load   engines.Load
	}{
		{"all there is", llamacpp.Config{PromptCache: true}, map[string]servertest.Reply{"GET /metrics": text(page)},
			engines.Counters{PromptTokens: n(22350), OutputTokens: n(4319), CacheQueries: n(22350), CacheHits: n(990)},
			engines.Load{Running: n(4), Waiting: n(2)}},
		{"an older server, no request reads a cache", llamacpp.Config{}, map[string]servertest.Reply{"GET /metrics": text(older)},
			engines.Counters{PromptTokens: n(21360), OutputTokens: n(4319)}, engines.Load{}},
		{"an older server, which leaves out what its cache served", llamacpp.Config{PromptCache: true},
			map[string]servertest.Reply{"GET /metrics": text(older)},
			engines.Counters{OutputTokens: n(4319)}, engines.Load{}},
		{"without --metrics, slots free", llamacpp.Config{},
			map[string]servertest.Reply{"GET /metrics": off, "GET /slots": slots("true", "false")},
			engines.Counters{}, engines.Load{Running: n(1), Waiting: n(0)}},
		{"without --metrics, all slots taken: nobody knows who waits", llamacpp.Config{},
			map[string]servertest.Reply{"GET /metrics": off, "GET /slots": slots("true", "true")},
			engines.Counters{}, engines.Load{Running: n(2)}},
		{"without both", llamacpp.Config{},
			map[string]servertest.Reply{"GET /metrics": off, "GET /slots": {Status: 501, Body: notStarted}},
			engines.Counters{}, engines.Load{}},
		{"slots that do not tell", llamacpp.Config{},
			map[string]servertest.Reply{"GET /metrics": off, "GET /slots": servertest.JSON(`[{"id":0}]`)},
			engines.Counters{}, engines.Load{}},
		{"a gateway without the routes", llamacpp.Config{}, nil, engines.Counters{}, engines.Load{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := attach(t, test.config, test.routes)
			got, err := e.Scrape(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			load, err := e.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.load, load)
		})
	}
}

func TestDescribe(t *testing.T) {
	e, _ := attach(t, llamacpp.Config{Hardware: "8 cores X"}, nil)
	got, err := e.Describe(t.Context())
	require.NoError(t, err)
	assert.Equal(t, engines.Identity{Engine: "llamacpp", Version: "b9931-abc1234", Model: "m", Hardware: "8 cores X",
		Settings: map[string]string{"total_slots": "4", "n_ctx_slot": "1024", "model_path": "/models/m.gguf",
			"model_ftype": "Q4_K - Medium", "prompt_cache": "false"}}, got)
	assert.Equal(t, "llamacpp at "+e.URL(), e.String())
	t.Run("told nothing", func(t *testing.T) {
		e, _ := attach(t, llamacpp.Config{PromptCache: true}, map[string]servertest.Reply{"GET /props": servertest.JSON(`[]`)})
		got, err := e.Describe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, engines.Identity{Engine: "llamacpp", Model: "m",
			Settings: map[string]string{"prompt_cache": "true"}}, got)
	})
}

// The model may be asked for by its file, wherever that is.
func TestModelByItsFile(t *testing.T) {
	for _, test := range []struct{ name, served, asked, err string }{
		{"served under its file's name", "gemma-3", "/cache/gemma-3.gguf", ""},
		{"served under its path on that host", "/models/gemma-3.gguf", "/cache/gemma-3.gguf", ""},
		{"by its name", "/models/gemma-3.gguf", "gemma-3", ""},
		{"on Windows", `C:\models\gemma-3.gguf`, "gemma-3.gguf", ""},
		{"another model", "gemma-3", "/cache/gemma-3n.gguf",
			`it serves "gemma-3", want "/cache/gemma-3n.gguf": ask for what it serves in Config.Model or OPENLOOP_MODEL, or point the URL elsewhere`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := httptest.NewServer(&servertest.Server{Owner: "llamacpp", Models: []string{test.served}})
			defer h.Close()
			e, err := llamacpp.Attach(t.Context(), llamacpp.Config{URL: h.URL, Model: test.asked})
			if test.err != "" {
				assert.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			id, err := e.Describe(t.Context())
			require.NoError(t, err)
			assert.Equal(t, test.served, id.Model)
		})
	}
}
