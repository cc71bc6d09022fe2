package sim

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What SGLang answers to a flush: the last where it was to wait.
const (
	cacheFlushed = "Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n"
	flushFailed  = "Flush cache failed.\n"
	flushTimeout = "Timed out waiting for idle state."
)

// sglangRoutes are SGLang's own, with their older names.
func (s *Server) sglangRoutes(m *http.ServeMux) {
	m.HandleFunc("GET /health_generate", s.healthGenerate)
	m.HandleFunc("GET /ready", empty)
	for _, route := range []string{"GET /model_info", "GET /get_model_info"} {
		m.HandleFunc(route, s.sglangModel)
	}
	for _, route := range []string{"GET /server_info", "GET /get_server_info"} {
		m.HandleFunc(route, s.sglangInfo)
	}
	m.HandleFunc("GET /v1/loads", s.sglangLoads)
	for _, route := range []string{"GET /flush_cache", "POST /flush_cache"} {
		m.HandleFunc(route, s.sglangFlush)
	}
}

// sglangFlush answers 200 when the cache was flushed and 400 when the engine
// was not idle, for as long as the parameter timeout (in seconds) lets it wait.
func (s *Server) sglangFlush(w http.ResponseWriter, r *http.Request) {
	timeout := 0.0
	if text := r.URL.Query().Get("timeout"); text != "" {
		var err error
		if timeout, err = strconv.ParseFloat(text, 64); err != nil || !(timeout >= 0) || timeout > 3600 {
			s.fail(w, http.StatusBadRequest, "timeout must be a number of seconds from 0 to 3600, got "+strconv.Quote(text))
			return
		}
	}
	success, idle := s.flush(r, time.Duration(timeout*float64(time.Second)))
	status, text := http.StatusOK, cacheFlushed
	if !success {
		status, text = http.StatusBadRequest, flushFailed
		if timeout > 0 && !idle {
			text = flushTimeout
		}
	}
	s.logf("INFO", "scheduler", "Cache flushed: %v", success)
	w.Header()["Content-Type"] = nil // it says none
	w.WriteHeader(status)
	if !s.cfg.Faults.FlushEmptyBody {
		_, _ = w.Write([]byte(text))
	}
}

// healthGenerate makes one token, and looks once a second whether it is there.
func (s *Server) healthGenerate(w http.ResponseWriter, r *http.Request) {
	q := &sequence{id: "HEALTH_CHECK", feed: newFeed()}
	q.setPrompt([]int32{0}, "", s.cfg.BlockTokens)
	q.setLength(1, 1, true, 0)
	s.submit(q)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-second.C:
			if _, over := q.feed.get(); over {
				w.WriteHeader(map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}[q.fate == finished])
				return
			}
		case <-r.Context().Done():
			s.cancel(q)
			return
		}
	}
}

func (s *Server) sglangModel(w http.ResponseWriter, _ *http.Request) {
	name := s.cfg.answerModel()
	writeJSON(w, http.StatusOK, map[string]any{
		"model_path": name, "tokenizer_path": name, "is_generation": true,
		"preferred_sampling_params": nil, "weight_version": "default", "model_type": "llama",
	})
}

func (s *Server) sglangInfo(w http.ResponseWriter, _ *http.Request) {
	c := s.cfg
	writeJSON(w, http.StatusOK, map[string]any{
		"model_path": c.answerModel(), "served_model_name": c.answerModel(), "version": Version, "status": "ready",
		"dtype": "bfloat16", "device": "cuda", "tp_size": 1, "pp_size": 1, "dp_size": 1,
		"max_running_requests": c.MaxNumSeqs, "chunked_prefill_size": c.MaxBatchedTokens, "page_size": c.BlockTokens,
		"max_total_num_tokens": c.KVTokens, "context_length": c.MaxModelLen, "stream_interval": 1,
		"disable_radix_cache": false, "enable_metrics": true, "enable_cache_report": !c.Faults.HideCached,
		"internal_states": []any{map[string]any{"max_running_requests": c.MaxNumSeqs}},
	})
}

func (s *Server) sglangLoads(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	running, waiting := s.load()
	used := s.sched.kv.inUse() * s.cfg.BlockTokens
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{
		"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000000+00:00"), "version": Version,
		"accelerator": strings.TrimPrefix(s.cfg.Hardware, "1x "), "num_accelerators": 1,
		"loads": []any{map[string]any{
			"dp_rank": 0, "num_running_reqs": running, "num_waiting_reqs": waiting, "num_total_reqs": running + waiting,
			"num_used_tokens": used, "max_total_num_tokens": s.cfg.KVTokens, "max_running_requests": s.cfg.MaxNumSeqs,
			"token_usage": float64(used) / float64(s.cfg.KVTokens),
		}},
	})
}
