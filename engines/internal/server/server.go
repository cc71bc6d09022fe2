package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/process"
	"github.com/openloop-go/openloop/engines/launch"
	"github.com/openloop-go/openloop/engines/openai"
)

const defaultBudget = 10 * time.Minute

// Server is a server that is ready: one that was attached to, or one that was
// started here.
type Server struct {
	kind   *Kind
	config Config
	claim  *claim

	restarting sync.Mutex
	starts     atomic.Int64
	now        atomic.Pointer[incarnation]
	// unnamed are the log files whose place nobody chose.
	unnamed []string
	holds   holds
}

// Attach attaches to the server at Config.URL, or at the URL in the
// environment. It has no end, so it takes no lock: Launch does.
func Attach(ctx context.Context, k *Kind, given launch.Config) (*Server, error) {
	c, err := k.resolve(ctx, given)
	if err != nil {
		return nil, err
	}
	if c.URL == "" {
		return nil, fmt.Errorf("attach %s: no URL: set Config.URL, %s or OPENLOOP_ENGINE_URL", k.Name, k.Variable)
	}
	return k.attach(ctx, c, nil)
}

// Launch attaches where there is a URL, as Attach does, and starts a server
// where there is none. It waits until no other test binary has the server at
// the URL, or the devices of one that is started.
func Launch(ctx context.Context, k *Kind, given launch.Config) (*Server, error) {
	c, err := k.resolve(ctx, given)
	if err != nil {
		return nil, err
	}
	claim, err := k.claim(ctx, c, "", nil, nil)
	if err != nil {
		return nil, err
	}
	return k.launch(ctx, c, claim)
}

// launch attaches or starts; with an error it gives the claim back.
func (k *Kind) launch(ctx context.Context, c Config, claim *claim) (*Server, error) {
	helper := c.marks()
	helper()
	if c.URL == "" && c.LogFile == "" {
		c.LogFile = artifact(k.Name)
	}
	s := &Server{kind: k, config: c, claim: claim}
	var err error
	if c.URL != "" {
		s, err = k.attach(ctx, c, claim)
	} else if err = s.begin(ctx); err == nil && !s.Process().Local() {
		// It computes elsewhere, so nothing of this host is taken.
		claim.fail()
		s.claim = nil
		if err = claim.release(); err != nil {
			err = errors.Join(err, s.end(ctx))
		}
	}
	if err != nil {
		return nil, errors.Join(err, claim.release())
	}
	return s, nil
}

func (k *Kind) attach(ctx context.Context, c Config, claim *claim) (*Server, error) {
	helper := c.marks()
	helper()
	client, err := k.awaitReady(ctx, c, c.URL)
	if err != nil {
		return nil, fmt.Errorf("attach %s: %w", k.Name, err)
	}
	s := &Server{kind: k, config: c, claim: claim}
	s.now.Store(&incarnation{client: client})
	return s, nil
}

// begin starts the server, at an address of its own, and waits until it is
// ready.
func (s *Server) begin(ctx context.Context) error {
	k, c := s.kind, s.config
	c.from = justStarted
	if err := s.claim.enter(ctx); err != nil {
		return fmt.Errorf("start %s: waiting for GPU memory: %w", k.Name, err)
	}
	var client *openai.Engine
	var stranger stranger
	var gpuless line
	var said diagnosis
	number := s.starts.Add(1)
	p, err := process.Start(ctx, process.Spec{
		Server: launch.Spec{
			Name: k.Name, Command: k.program(c), Env: k.environment(c), Dir: c.Dir,
			Args:  func(at launch.Place) []string { return k.arguments(c, at) },
			Image: c.Image, GPUs: c.GPUs, Mounts: c.Mounts, ShmSize: c.ShmSize,
			Guarded: s.claim.files(),
		},
		Launcher: c.Launcher,
		LogFile:  logFile(c.LogFile, number), Secrets: []string{c.APIKey},
		Budget: c.StartBudget, Longer: c.longer,
		Hopeless: func(text string) bool {
			if k.Without != nil && k.Without.MatchString(text) {
				gpuless.keep(text)
			}
			said.read(text)
			return lastWords.MatchString(text)
		},
		Dying: dyingWords.MatchString,
		Ready: func(ctx context.Context, root string) error {
			var err error
			client, err = k.ready(ctx, c, root, nil)
			if err = stranger.judge(err, root); isLasting(err) {
				return process.Final(err)
			}
			if err == nil && c.GPUs != "" && gpuless.kept() != "" {
				_ = client.Close()
				return process.Final(fmt.Errorf("Config.GPUs is %q, and the server goes on without a GPU (%q): %s",
					c.GPUs, gpuless.kept(), k.fill(c, noGPU)))
			}
			return err
		},
	})
	if err != nil {
		s.claim.fail()
		return k.advise(c, &said, err)
	}
	s.claim.ready(ctx)
	if c.LogFile == "" {
		s.unnamed = append(s.unnamed, p.Log().Path())
	}
	s.now.Store(&incarnation{client: client, process: p, number: number})
	return nil
}

// justStarted stands where messages name the place of the URL.
const justStarted = "the server just started"

// Client is the streaming client of the present incarnation.
func (s *Server) Client() *openai.Engine { return s.now.Load().client }

// Admin is a client with another key, for routes that want one; empty is the
// usual client. done closes it.
func (s *Server) Admin(key string) (client *openai.Engine, done func(), err error) {
	if key == "" {
		return s.Client(), func() {}, nil
	}
	c := s.config
	c.APIKey = key
	client, err = s.kind.client(c, s.Client().URL(), "")
	if err != nil {
		return nil, nil, err
	}
	return client, func() { _ = client.Close() }, nil
}

// Config is the configuration, with what the environment decided.
func (s *Server) Config() Config { return s.config }

// Process is the server that was started; nil when attached.
func (s *Server) Process() *process.Process { return s.now.Load().process }

// Generate implements engines.Engine. Where a request failed because the server
// has ended, the error says how.
func (s *Server) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	now := s.now.Load()
	reply, err := now.client.Generate(ctx, r, emit)
	return reply, now.blame(err)
}

// Restart stops the server and starts it again, at an address of its own.
// Attached, the error is an errors.ErrUnsupported.
func (s *Server) Restart(ctx context.Context) error {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	if s.Process() == nil {
		return fmt.Errorf("restart %s: %s was attached to, not started here (%w): measure one start",
			s.kind.Name, s.Client().URL(), errors.ErrUnsupported)
	}
	if err := s.end(ctx); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	return s.holds.move(ctx, s.address())
}

// Close ends the server and everything that it started; one that was attached
// to is left alone. Other test binaries may then have what it occupied. The
// error says that the server had died by itself, or that something of it could
// not be ended, or that its GPUs have not got their memory back.
func (s *Server) Close(ctx context.Context) error {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	return errors.Join(s.end(ctx), s.claim.release())
}

func (s *Server) end(ctx context.Context) error {
	_ = s.Client().Close()
	p := s.Process()
	if p == nil {
		return nil
	}
	died := s.now.Load().death(ctx) // before Stop, after which it is nil
	if died == nil {
		s.claim.leaving(ctx)
	} else {
		died = s.kind.advise(s.config, &diagnosis{}, died)
	}
	stopped := p.Stop(ctx)
	freed := s.claim.left(ctx)
	if freed != nil {
		freed = fmt.Errorf("stop %s: %w", s.kind.Name, freed)
	}
	return errors.Join(died, stopped, freed)
}
