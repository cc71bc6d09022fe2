package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// probe is the generation that a server is ready by. Its tokens are below
// those of the workloads' vocabulary, so that it warms no prefix of theirs.
func probe(chat bool) *engines.Request {
	r := &engines.Request{ID: "openloop-ready", MaxTokens: 2, IgnoreEOS: true}
	if chat {
		r.Text = "Are you ready?"
	} else {
		r.Tokens = []int32{1, 2, 3, 4, 5, 6, 7, 8}
	}
	return r
}

// lastingError is an answer that waiting cannot change.
type lastingError struct{ err error }

func (e *lastingError) Error() string { return e.err.Error() }
func (e *lastingError) Unwrap() error { return e.err }

func lasting(format string, args ...any) error {
	return &lastingError{fmt.Errorf(format, args...)}
}

// isLasting tells errors that waiting cannot change. A server that is just
// starting refuses connections, closes them, and answers 404 and 503; it does not
// speak another protocol.
func isLasting(err error) bool {
	if l := (*lastingError)(nil); errors.As(err, &l) {
		return true
	}
	e := (*engines.Error)(nil)
	return errors.As(err, &e) && (e.Class == engines.Unauthorized || e.Class == engines.Protocol && e.Status == 0)
}

// ready asks once whether the server at root is ready: it is of the kind
// wanted, serves the model wanted and has completed a generation. The client
// that comes back asks for that model by its served name. Asks, unless nil, is
// told what it is asked for.
func (k *Kind) ready(ctx context.Context, c Config, root string, asks func(what string)) (*openai.Engine, error) {
	if asks == nil {
		asks = func(string) {}
	}
	unnamed, err := k.client(c, root, "")
	if err != nil {
		return nil, &lastingError{err}
	}
	defer unnamed.Close()
	at := fmt.Sprintf("%s (%s)", unnamed.URL(), c.from) // without user information
	asks("answered GET /v1/models")
	models, err := unnamed.Models(ctx)
	if err != nil {
		return nil, err
	}
	if len(models) == 0 {
		return nil, lasting("%s serves no model: start it with one", at)
	}
	asks("told what kind of server it is")
	kind, said, err := identify(ctx, unnamed, models)
	if err != nil {
		return nil, err
	}
	if kind != k.Name {
		return nil, &lastingError{k.wrongKind(c, at, kind, said)}
	}
	model, err := k.choose(models, c.Model)
	if err != nil {
		return nil, lasting("%s: %w", at, err)
	}
	client, err := k.client(c, root, model)
	if err != nil {
		return nil, &lastingError{err}
	}
	route := "/v1/completions"
	if c.Chat {
		route = "/v1/chat/completions"
	}
	asks("ended a generation of 2 tokens (POST " + route + ")")
	reply, err := client.Generate(ctx, probe(c.Chat), func(engines.Chunk) {})
	if err == nil && reply.Model != "" && reply.Model != model {
		err = lasting("%s: model %q answered, want %q: something between here and the server sends requests elsewhere",
			at, reply.Model, model)
	}
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	return client, nil
}

// stranger tells a server that is no OpenAI-style one from one that has not
// come so far: it keeps answering, and never as it should.
type stranger struct{ since time.Time }

// strangeFor is how long a server that has just been started may do so.
const strangeFor = 30 * time.Second

// judge makes what a server said for too long a lasting error.
func (s *stranger) judge(err error, root string) error {
	e := (*engines.Error)(nil)
	if !errors.As(err, &e) || e.Status == 0 || e.Status >= 500 || e.Status == http.StatusTooManyRequests {
		s.since = time.Time{}
		return err
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if age := time.Since(s.since); age >= strangeFor {
		return lasting("%w: %s has answered like this for %v, which no server of this kind does: check Config.Command or Config.Image",
			err, root, age.Round(time.Second))
	}
	return err
}
