// Package openai is the streaming client for servers with OpenAI-style routes.
package openai

import (
	"context"
	"io"
	"net/http"

	"github.com/openloop-go/openloop/engines"
)

// Engine is a client of one server.
type Engine struct{ cfg Config }

// New validates the configuration and returns its engine. It sends nothing.
func New(cfg Config) (*Engine, error) { panic("not yet") }

// Attach is New, and checks that the server answers and serves the model.
func Attach(ctx context.Context, cfg Config) (*Engine, error) { panic("not yet") }

// Generate implements engines.Engine.
func (e *Engine) Generate(ctx context.Context, r *engines.Request, emit func(engines.Chunk)) (engines.Reply, error) {
	panic("not yet")
}

// Describe implements engines.Describer.
func (e *Engine) Describe(ctx context.Context) (engines.Identity, error) { panic("not yet") }

// Model is the model that is asked for.
func (e *Engine) Model() string { panic("not yet") }

// URL is the server's root, without user information.
func (e *Engine) URL() string { panic("not yet") }

// Connections is the number of connections opened so far.
func (e *Engine) Connections() int { panic("not yet") }

// Close closes idle connections; the engine can be used again afterwards.
func (e *Engine) Close() error { panic("not yet") }

// Models lists the models that the server serves (GET /v1/models).
func (e *Engine) Models(ctx context.Context) ([]Model, error) { panic("not yet") }

// Model is one entry of /v1/models.
type Model struct {
	// ID is the served name; Root the repository or path behind it, where the
	// server says so.
	ID, Root string
	// MaxLen is the longest context in tokens, where the server says so.
	MaxLen engines.Count
}

// Answer is what came back of a request that is not a generation.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request to a path below the server's root, as in
// "/flush_cache?timeout=5", with the same headers and connections as
// Generate. body is marshalled to JSON; nil sends none. Any status is an
// answer; err, an *engines.Error, is for a server that could not be asked.
func (e *Engine) Do(ctx context.Context, method, path string, body any) (*Answer, error) {
	panic("not yet")
}

// JSON is Do that demands a 2xx status and unmarshals the body into `into`
// (nil ignores it). Any other end is an *engines.Error.
func (e *Engine) JSON(ctx context.Context, method, path string, body, into any) error {
	panic("not yet")
}

// Page fetches and parses a Prometheus page; path is usually "/metrics". A
// server without the route gives an *engines.Error with Status 404.
func (e *Engine) Page(ctx context.Context, path string) (*Page, error) { panic("not yet") }

// Page is a parsed Prometheus page.
type Page struct{}

// ParsePage parses a page in the Prometheus text format.
func ParsePage(r io.Reader) (*Page, error) { panic("not yet") }

// Sum adds the series of the first of the names that the page has, over all
// labels. Names are exact but for "_total", which may be there or not;
// "x_sum" and "x_count" find the histogram or summary x. False: none is there.
func (p *Page) Sum(names ...string) (float64, bool) { panic("not yet") }

// Count is Sum as a whole number, unknown when missing.
func (p *Page) Count(names ...string) engines.Count { panic("not yet") }

// Labels returns the labels of each series of a name, nil when there is none.
func (p *Page) Labels(name string) []map[string]string { panic("not yet") }
