package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/internal/secret"
)

// Engine is a client of one server, with its own pool of connections. It is
// an engines.Engine, an engines.Describer and an engines.Flusher, safe for
// concurrent use.
type Engine struct {
	cfg       Config
	model     string
	root      string // scheme, host and path above /v1, without user information
	route     *url.URL
	header    http.Header
	user      bool // the URL had user information
	secrets   secret.Known
	extra     []byte // the extra fields as ,"name":value…
	transport *transport
	// direct holds the connections of generations where they need not go
	// through net/http; nil where they do.
	direct *pool

	// form is what requests look like; settled once one was accepted.
	form    atomic.Pointer[form]
	settled atomic.Bool
	// asking is done when it is known whether a server that did not answer speaks
	// TLS, and secure is whether it does.
	asking sync.Once
	secure bool
	// salting is whether the server takes a cache salt; nil until it is known.
	salting atomic.Pointer[salting]
}

// direct is newDirect; tests put something else here.
var direct = newDirect

// New validates the configuration, all of it at once, and returns its engine.
// It sends nothing.
func New(cfg Config) (*Engine, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(cfg.URL)
	e := &Engine{cfg: cfg, model: cfg.Model, transport: newTransport(&cfg, u), header: http.Header{}}
	for name, values := range cfg.Header {
		name = http.CanonicalHeaderKey(name)
		e.header[name] = append(e.header[name], values...)
	}
	e.secrets = secret.Given(cfg.APIKey, cfg.Header, u.User)
	if u.User != nil {
		password, _ := u.User.Password()
		r := http.Request{Header: e.header}
		r.SetBasicAuth(u.User.Username(), password)
		u.User, e.user = nil, true
	}
	if cfg.APIKey != "" {
		e.header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	u.Path = strings.TrimRight(strings.TrimSuffix(u.Path, "/v1"), "/")
	e.root, e.route = u.String(), u
	if u.Path += "/v1/completions"; cfg.Chat {
		u.Path = strings.TrimSuffix(u.Path, "completions") + "chat/completions"
	}
	if len(cfg.Extra) > 0 {
		b, _ := json.Marshal(cfg.Extra)
		e.extra = append([]byte{','}, bytes.TrimSuffix(b[1:], []byte{'}'})...)
	}
	e.form.Store(newForm(&cfg))
	e.direct = direct(e)
	return e, nil
}

// Model is the model that is asked for; empty leaves it to the server.
func (e *Engine) Model() string { return e.model }

// URL is the server's root: without user information, "/v1" or a slash at its
// end.
func (e *Engine) URL() string { return e.root }

// String is the engine's kind and its server's root: no key, no header.
func (e *Engine) String() string {
	kind := e.cfg.Kind
	if kind == "" {
		kind = "openai"
	}
	return kind + " at " + e.root
}

// Format is String for every verb of fmt but %p, so that none prints the key.
func (e *Engine) Format(to fmt.State, verb rune) {
	secret.Format(to, verb, e.String(), e.GoString())
}

// GoString is String, as %#v prints it.
func (e *Engine) GoString() string { return "&openai.Engine{" + e.String() + "}" }

// Connections is the number of connections opened so far.
func (e *Engine) Connections() int { return int(e.transport.opened.Load()) }

// Close closes the connections that are idle. The engine can be used again.
func (e *Engine) Close() error {
	e.transport.CloseIdleConnections()
	e.transport.ahead.close()
	if e.direct != nil {
		e.direct.closeIdle()
	}
	return nil
}

// Describe tells what the server says of itself without knowing its kind: the
// model from /v1/models, with "root" among the settings where it differs, and
// the version from /version where there is such a route. It implements
// engines.Describer.
func (e *Engine) Describe(ctx context.Context) (engines.Identity, error) {
	id := engines.Identity{Engine: e.cfg.Kind, Model: e.model, Settings: map[string]string{}}
	if id.Engine == "" {
		id.Engine = "openai"
	}
	models, err := e.Models(ctx)
	if err != nil {
		return id, err
	}
	if id.Model == "" && len(models) == 1 {
		id.Model = models[0].ID
	}
	for _, m := range models {
		if m.ID == id.Model && m.Root != "" && m.Root != m.ID {
			id.Settings["root"] = m.Root
		}
	}
	if proxy, _ := e.Proxy(); proxy != "" {
		id.Settings["proxy"] = proxy
	}
	var version struct{ Version string }
	if e.JSON(ctx, http.MethodGet, "/version", nil, &version) == nil {
		id.Version = version.Version
	}
	return id, nil
}
