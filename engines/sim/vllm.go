package sim

import (
	"encoding/json"
	"net/http"
	"strings"
)

// vllmRoutes are vLLM's own. Those of development mode do not exist outside
// of it, as on a server without VLLM_SERVER_DEV_MODE=1.
func (s *Server) vllmRoutes(m *http.ServeMux) {
	m.HandleFunc("GET /version", s.version)
	m.HandleFunc("GET /load", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		running, waiting := s.load()
		s.mu.Unlock()
		writeJSON(w, http.StatusOK, map[string]any{"server_load": running + waiting})
	})
	m.HandleFunc("POST /tokenize", s.tokenize)
	m.HandleFunc("POST /detokenize", s.detokenize)
	if !s.cfg.DevMode {
		return
	}
	m.HandleFunc("POST /reset_prefix_cache", func(w http.ResponseWriter, r *http.Request) {
		success, _ := s.flush(r, 0)
		s.logf("INFO", "block_pool.py:460", "Successfully reset prefix cache: %v", success)
		if s.cfg.Faults.FlushEmptyBody {
			w.WriteHeader(http.StatusOK)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"success": success})
	})
	m.HandleFunc("POST /reset_mm_cache", empty)
	m.HandleFunc("POST /reset_encoder_cache", empty)
	m.HandleFunc("GET /server_info", s.vllmInfo)
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"version": Version})
}

// vllmInfo answers /server_info, in text unless JSON is asked for: of the 30
// sections of a real one those that tell what decides performance.
func (s *Server) vllmInfo(w http.ResponseWriter, r *http.Request) {
	c := s.cfg
	config := map[string]any{
		"model_config": map[string]any{"model": c.Model, "max_model_len": c.MaxModelLen, "dtype": "torch.bfloat16",
			"quantization": nil, "revision": nil, "enforce_eager": false},
		"load_config":   map[string]any{"load_format": "auto"},
		"device_config": map[string]any{"device": "cuda", "device_type": "cuda"},
		"parallel_config": map[string]any{"tensor_parallel_size": 1, "pipeline_parallel_size": 1, "data_parallel_size": 1,
			"enable_expert_parallel": false, "eplb_config": map[string]any{"policy": "default", "window_size": 1000}},
		"scheduler_config": map[string]any{"max_num_seqs": c.MaxNumSeqs, "max_num_batched_tokens": c.MaxBatchedTokens,
			"enable_chunked_prefill": true, "policy": "fcfs", "stream_interval": 1},
		"cache_config": map[string]any{"block_size": c.BlockTokens, "enable_prefix_caching": true, "cache_dtype": "auto",
			"gpu_memory_utilization": 0.9, "num_gpu_blocks": c.KVTokens / c.BlockTokens},
	}
	var shown any = config
	if r.URL.Query().Get("config_format") != "json" {
		text, _ := json.Marshal(config) // plain values always can be
		shown = string(text)
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"vllm_config": shown,
		"vllm_env":    map[string]any{"VLLM_SERVER_DEV_MODE": true},
		"system_env":  map[string]any{"nvidia_gpu_models": "GPU 0: " + strings.TrimPrefix(c.Hardware, "1x "), "is_cuda_available": "True"},
	})
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Prompt   *string   `json:"prompt"`
		Messages []message `json:"messages"`
		Strings  bool      `json:"return_token_strs"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		s.fail(w, http.StatusBadRequest, "the body is not a valid request: "+err.Error())
		return
	}
	var tokens []int32
	switch {
	case in.Prompt != nil:
		tokens = tokenize(*in.Prompt)
	default:
		var err error
		if tokens, err = chatPrompt(in.Messages); err != nil {
			s.fail(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	out := map[string]any{"count": len(tokens), "max_model_len": s.cfg.MaxModelLen, "tokens": tokens, "token_strs": nil}
	if in.Strings {
		strs := make([]string, len(tokens))
		for i, id := range tokens {
			strs[i] = string(appendToken(nil, id))
		}
		out["token_strs"] = strs
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tokens []int32 `json:"tokens"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		s.fail(w, http.StatusBadRequest, "the body is not a valid request: "+err.Error())
		return
	}
	for _, id := range in.Tokens {
		if id < 0 || id >= vocabulary {
			s.fail(w, http.StatusBadRequest, "Token id is out of vocabulary")
			return
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"prompt": detokenize(in.Tokens)})
}
