package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// trtllmRoutes are trtllm-serve's own. Its statistics are lists of JSON, which
// are empty unless they were asked for at the start, and nothing empties its
// cache.
func (s *Server) trtllmRoutes(m *http.ServeMux) {
	m.HandleFunc("GET /version", s.version)
	m.HandleFunc("GET /health_generate", s.trtllmHealth)
	nothing := func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, []any{}) }
	for _, route := range []string{"GET /metrics", "GET /perf_metrics", "POST /kv_cache_events"} {
		m.HandleFunc(route, nothing)
	}
}

// trtllmHealth makes one token.
func (s *Server) trtllmHealth(w http.ResponseWriter, r *http.Request) {
	q := &sequence{id: "health", feed: newFeed()}
	q.setPrompt([]int32{0}, "", s.cfg.BlockTokens)
	q.setLength(1, 1, true, 0)
	s.submit(q)
	defer s.attend(r, q)()
	for {
		if !s.await(q) {
			return
		}
		if _, over := q.feed.get(); over {
			break
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if q.fate != finished {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("Generation health check failed"))
		return
	}
	_, _ = w.Write([]byte("Generation health check OK"))
}

// The fields that trtllm-serve knows in a request: those of both routes, and
// those of one.
const (
	trtllmBoth = `model best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop stream
		stream_options temperature top_p user lora_request prompt_ignore_length use_beam_search top_k top_p_min min_p
		repetition_penalty length_penalty early_stopping stop_token_ids include_stop_str_in_output ignore_eos min_tokens
		skip_special_tokens spaces_between_special_tokens truncate_prompt_tokens add_special_tokens response_format
		disaggregated_params conversation_params priority thinking_token_budget`
	trtllmCompletion = `prompt suffix return_context_logits detokenize`
	trtllmChat       = `messages max_completion_tokens top_logprobs tools tool_choice parallel_tool_calls reasoning_effort
		thinking add_generation_prompt documents chat_template chat_template_kwargs cache_salt mm_processor_kwargs`
)

var trtllmKnown = map[bool][]string{
	false: strings.Fields(trtllmBoth + " " + trtllmCompletion),
	true:  strings.Fields(trtllmBoth + " " + trtllmChat),
}

// forbidden refuses a body with fields that the route does not know.
func forbidden(body []byte, chat bool) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return bad("", "the body is not a valid request: %v", err)
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(trtllmKnown[chat], name) {
			wrong = append(wrong, fmt.Sprintf("{'type': 'extra_forbidden', 'loc': ('body', '%s'), 'msg': 'Extra inputs are not permitted', 'input': %s}", name, fields[name]))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return strangeFields("[" + strings.Join(wrong, ", ") + "]")
}

// strangeFields is the error of a body with fields that are not known, in the
// words of the library that trtllm-serve reads it by.
type strangeFields string

func (e strangeFields) Error() string { return string(e) }

// plain is a client that knows of no kind: it reads neither load nor counters.
type plain struct{ *openai.Engine }

func attachPlain(ctx context.Context, cfg openai.Config) (client, error) {
	e, err := openai.Attach(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return plain{e}, nil
}

func (plain) Load(context.Context) (engines.Load, error) { return engines.Load{}, nil }

func (plain) Scrape(context.Context) (engines.Counters, error) { return engines.Counters{}, nil }

func (p plain) Close(context.Context) error { return p.Engine.Close() }
