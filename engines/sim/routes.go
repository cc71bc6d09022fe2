package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// routes are those that all flavors have, and the flavor's own. Any other is
// a 404, or a 405 where another method has one.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("POST /v1/completions", s.generate(false))
	m.HandleFunc("POST /v1/chat/completions", s.generate(true))
	m.HandleFunc("GET /v1/models", s.models)
	m.HandleFunc("GET /health", empty)
	if s.cfg.Flavor == TensorRTLLM {
		s.trtllmRoutes(m)
	} else {
		m.HandleFunc("GET /ping", empty)
		m.HandleFunc("POST /ping", empty)
		if !s.cfg.Faults.Protocol.NoMetrics {
			m.HandleFunc("GET /metrics", s.metrics)
		}
	}
	switch s.cfg.Flavor {
	case SGLang:
		s.sglangRoutes(m)
	case VLLM:
		s.vllmRoutes(m)
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := methods(m, r); allowed != "" {
			w.Header().Set("Allow", allowed)
			writeJSON(w, http.StatusMethodNotAllowed, map[string]any{"detail": "Method Not Allowed"})
			return
		}
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	})
	return m
}

// methods are those by which a path can be asked for that has no route for
// the request's.
func methods(m *http.ServeMux, r *http.Request) string {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := m.Handler(&other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	return strings.Join(allowed, ", ")
}

// load is the number of sequences running and waiting, as the server tells
// it.
func (s *Server) load() (running, waiting int) {
	switch p := s.cfg.Faults.Protocol; {
	case p.NoLoad:
		return 0, 0
	case p.StaleLoad:
		return s.shown.running, s.shown.waiting
	}
	return len(s.sched.running), s.sched.queue.len()
}

func empty(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	name := s.cfg.answerModel()
	card := map[string]any{
		"id": name, "object": "model", "created": int64(s.bootTime() + s.cfg.Faults.Protocol.ClockOff.Seconds()), "owned_by": string(s.cfg.Flavor),
	}
	if s.cfg.Flavor != TensorRTLLM {
		card["root"], card["parent"], card["max_model_len"] = name, nil, s.cfg.MaxModelLen
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{card}})
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
	switch s.cfg.Flavor {
	case SGLang:
		body["type"] = kind
		fallthrough
	case TensorRTLLM:
		body["object"] = "error"
		writeJSON(w, status, body)
		return
	}
	writeJSON(w, status, map[string]any{"error": body})
}

// flush empties the cache if the engine is idle and no fault refuses, waiting
// for idleness as long as it may.
func (s *Server) flush(r *http.Request, patience time.Duration) (success, idle bool) {
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
			return false, false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sched.flush(), s.sched.idle()
}
