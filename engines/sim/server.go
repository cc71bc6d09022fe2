package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Server is the engine behind HTTP: the routes and quirks of its flavor over
// the model, at the pace of package time, which in a testing/synctest bubble
// is virtual. It serves any number of listeners until it is closed.
type Server struct {
	cfg    Config
	origin time.Time
	mux    *http.ServeMux
	http   *http.Server

	mu      sync.Mutex
	sched   *scheduler
	stats   *stats
	boot    time.Duration                  // when the present start began
	starts  int                            // counts starts of the engine
	shown   struct{ running, waiting int } // as of the last step
	shut    bool
	busy    sync.WaitGroup // requests being served
	wake    chan struct{}  // a submission, to the loop while it is idle
	quit    chan struct{}
	stopped chan struct{} // the loop has ended
	logging sync.Mutex
	clock   func() int64 // that stamps events; nil does not
}

// keepAlive is how long an idle connection stays open: uvicorn's default, and
// so vLLM's and SGLang's.
const keepAlive = 5 * time.Second

// NewServer starts an engine. It must be closed.
func NewServer(cfg Config) (*Server, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, origin: time.Now(), stats: newStats(),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	if cfg.StampEvents {
		s.clock = clockOf(s.origin)
	}
	s.sched = newScheduler(cfg, 0, s.ended)
	s.mux = s.routes()
	s.http = &http.Server{Handler: s.Handler(), IdleTimeout: keepAlive}
	if cfg.Faults.Protocol.CloseIdle {
		s.http.ConnState = func(c net.Conn, state http.ConnState) {
			if state == http.StateIdle {
				_ = c.Close()
			}
		}
	}
	s.logStart()
	go s.loop()
	return s, nil
}

// now is the time on the engine's clock.
func (s *Server) now() time.Duration { return time.Since(s.origin) }

// Serve answers connections of a listener until the server is closed; then it
// returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the embedded engine at %v: %w", l.Addr(), err)
	}
	return nil
}

// Close ends the engine: streams break, listeners and connections are closed,
// and everything that it started has stopped when Close returns.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.shut {
		s.shut = true
		close(s.quit)
		s.sched.abandon()
	}
	s.mu.Unlock()
	err := s.http.Close()
	<-s.stopped
	s.busy.Wait()
	return err
}

// Shutdown ends the engine when the streams under way have ended, or with an
// error when the context does. New connections are refused at once.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	return errors.Join(err, s.Close())
}

// Restart ends all work as a crash does and starts the engine afresh: another
// start of the noise, nothing cached, nothing compiled, counters at zero.
// While Faults.LoadingFor passes it answers 503.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sched.clock = max(s.sched.clock, s.now())
	s.sched.restart(s.cfg.Faults.LoadingFor)
	s.begun()
}

// begun is called when another start of the engine has begun.
func (s *Server) begun() {
	s.boot, s.stats = s.sched.clock, newStats()
	s.starts++
	s.logStart()
}

// Handler is the server's routes, for a server of the caller's own.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.shut {
			s.mu.Unlock()
			panic(http.ErrAbortHandler)
		}
		s.busy.Add(1)
		loading := s.now() < max(s.cfg.Faults.LoadingFor, s.sched.upAt)
		s.mu.Unlock()
		defer s.busy.Done()
		if off := s.cfg.Faults.Protocol.ClockOff; off != 0 {
			w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		}
		switch {
		case loading:
			w.Header().Set("Retry-After", "1")
			s.fail(w, http.StatusServiceUnavailable, "the model is loading")
		case !s.authorized(r):
			writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
		default:
			s.mux.ServeHTTP(w, r)
		}
	})
}

// authorized checks the key: SGLang wants it everywhere but for health and
// metrics, the others on their /v1 routes only.
func (s *Server) authorized(r *http.Request) bool {
	if s.cfg.APIKey == "" || r.Header.Get("Authorization") == "Bearer "+s.cfg.APIKey {
		return true
	}
	if s.cfg.Flavor != SGLang {
		return len(r.URL.Path) < 3 || r.URL.Path[:3] != "/v1"
	}
	return slices.Contains([]string{"/health", "/health_generate", "/ping", "/metrics"}, r.URL.Path)
}
