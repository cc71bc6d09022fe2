package sim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
)

// generate answers /v1/completions and /v1/chat/completions.
func (s *Server) generate(chat bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, tokens, err := s.readAsk(r, chat)
		if strange := strangeFields(""); errors.As(err, &strange) {
			writeJSON(w, http.StatusBadRequest, map[string]any{"error": string(strange)})
			return
		}
		if b := (*badRequest)(nil); errors.As(err, &b) {
			if s.cfg.Faults.Protocol.ErrorsInStreams {
				failInStream(w, b.text)
			} else {
				s.failParam(w, b.status, b.text, b.param)
			}
			return
		}
		q := &sequence{id: r.Header.Get("X-Request-Id"), feed: newFeed()}
		for _, id := range []string{a.RequestID, a.RID} {
			if id != "" {
				q.id = id
			}
		}
		salt := ""
		if a.CacheSalt != nil && !s.cfg.Faults.IgnoreSalt {
			salt = *a.CacheSalt
		}
		q.setPrompt(tokens, salt, s.cfg.BlockTokens)
		if q.id == "" {
			q.id = strconv.FormatUint(q.hash, 16)
		}
		q.setLength(*a.MaxTokens, a.MinTokens, a.IgnoreEOS, s.cfg.Faults.OutputCut)
		s.submit(q)
		if _, over := q.feed.get(); over && (q.fate == refused || q.fate == failed) {
			s.turnedAway(w, q)
			return
		}
		defer s.attend(r, q)()
		v := newVoice(s, a, q, chat, tokens)
		if a.Stream {
			s.stream(w, v)
		} else {
			s.whole(w, v)
		}
	}
}

func (s *Server) turnedAway(w http.ResponseWriter, q *sequence) {
	if q.fate == refused {
		w.Header().Set("Retry-After", "1")
		s.fail(w, q.status, refusal)
		return
	}
	s.fail(w, q.status, internalError)
}

// failInStream answers with an error and says that all is well.
func failInStream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	v := voice{}
	v.error(text)
	v.done()
	_, _ = w.Write(v.buf)
}

// await waits for a sequence to get on; false when its client has gone. It is
// one receive, not a select, because a stream does it for every token.
func (s *Server) await(q *sequence) bool {
	<-q.feed.wake
	return !q.feed.left.Load()
}

// attend has a sequence canceled when its client goes, until the returned
// function is called.
func (s *Server) attend(r *http.Request, q *sequence) func() bool {
	return context.AfterFunc(r.Context(), func() {
		if !s.cfg.Faults.Protocol.KeepDropped {
			s.cancel(q)
		}
		q.feed.leave()
	})
}

// stream sends events as tokens are made.
func (s *Server) stream(w http.ResponseWriter, v *voice) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	flusher := http.NewResponseController(w)
	hold := s.cfg.Faults.Buffered
	// SGLang sends headers with the first event, the others when they accept a
	// request.
	if s.cfg.Flavor != SGLang && !hold {
		w.WriteHeader(http.StatusOK)
		_ = flusher.Flush()
	}
	for {
		if !s.await(v.q) {
			panic(http.ErrAbortHandler)
		}
		made, over := v.q.feed.get()
		v.upTo(made, over)
		if over {
			switch v.q.fate {
			case reset, canceled:
				if !hold {
					_, _ = w.Write(v.buf)
					_ = flusher.Flush()
				}
				breakConnection(w)
				return
			case streamError:
				v.error(internalError)
				v.done()
			case finished:
				v.usage()
				v.done()
			}
		}
		if over || !hold {
			if len(v.buf) > 0 {
				if _, err := w.Write(v.buf); err != nil {
					if !s.cfg.Faults.Protocol.KeepDropped {
						s.cancel(v.q)
					}
					return
				}
				v.buf = v.buf[:0]
				if !over {
					_ = flusher.Flush()
				}
			}
		}
		if over {
			return
		}
	}
}

// whole sends one JSON object when all is made.
func (s *Server) whole(w http.ResponseWriter, v *voice) {
	for {
		if !s.await(v.q) {
			panic(http.ErrAbortHandler)
		}
		if _, over := v.q.feed.get(); !over {
			continue
		}
		switch v.q.fate {
		case finished:
			writeJSON(w, http.StatusOK, v.object())
		case streamError, cut:
			s.fail(w, http.StatusInternalServerError, internalError)
		default:
			breakConnection(w)
		}
		return
	}
}

// breakConnection ends a reply as a crash of the server does: with a reset
// where the transport has one.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	switch c := conn.(type) {
	case *net.TCPConn:
		_ = c.SetLinger(0) // Close then resets
	case *pipeConn:
		c.Reset()
	}
	_ = conn.Close()
}
