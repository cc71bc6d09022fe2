package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// routes are those that both flavors have, and the flavor's own. Any other is
// a 404.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("POST /v1/completions", s.generate(false))
	m.HandleFunc("POST /v1/chat/completions", s.generate(true))
	m.HandleFunc("GET /v1/models", s.models)
	m.HandleFunc("GET /health", empty)
	m.HandleFunc("GET /ping", empty)
	m.HandleFunc("POST /ping", empty)
	m.HandleFunc("GET /metrics", s.metrics)
	if s.cfg.Flavor == SGLang {
		s.sglangRoutes(m)
	} else {
		s.vllmRoutes(m)
	}
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	})
	return m
}

func empty(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	name := s.cfg.answerModel()
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": name, "object": "model", "created": int64(s.bootTime()), "owned_by": string(s.cfg.Flavor),
		"root": name, "parent": nil, "max_model_len": s.cfg.MaxModelLen,
	}}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

// fail answers with the flavor's error object.
func (s *Server) fail(w http.ResponseWriter, status int, text string) {
	s.failParam(w, status, text, "")
}

func (s *Server) failParam(w http.ResponseWriter, status int, text, param string) {
	kind := strings.ReplaceAll(http.StatusText(status), " ", "")
	var field any
	if param != "" {
		field = param
	}
	body := map[string]any{"message": text, "type": kind + "Error", "param": field, "code": status}
	if s.cfg.Flavor == SGLang {
		body["object"], body["type"] = "error", kind
		writeJSON(w, status, body)
		return
	}
	writeJSON(w, status, map[string]any{"error": body})
}

// flush empties the cache if the engine is idle and no fault refuses, waiting
// for idleness as long as it may.
func (s *Server) flush(r *http.Request, patience time.Duration) bool {
	const pause = 10 * time.Millisecond
	for ; patience > 0; patience -= pause {
		s.mu.Lock()
		idle := s.sched.idle()
		s.mu.Unlock()
		if idle {
			break
		}
		timer := time.NewTimer(min(pause, patience))
		select {
		case <-timer.C:
		case <-r.Context().Done():
		case <-s.quit:
		}
		timer.Stop()
		if r.Context().Err() != nil {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sched.flush()
}
