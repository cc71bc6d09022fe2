package openai

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Config says which server to talk to and how. Only URL is needed; Attach
// finds the model where the server serves just one.
type Config struct {
	// URL is the server's root, as in "http://127.0.0.1:8000"; a trailing
	// slash or "/v1" is understood. User information in it is sent as basic
	// authentication and never printed.
	URL string
	// Model is the model to ask for. Empty: Attach takes the only one that
	// the server serves; with New no model is sent.
	Model string
	// APIKey is sent as a bearer token; empty sends none. It never appears in
	// an error or a log.
	APIKey string
	// Chat asks /v1/chat/completions, with the prompt's text as one user
	// message. False asks /v1/completions, which also takes token ids.
	Chat bool

	// Header is added to every request. Values are treated as secrets.
	Header http.Header
	// TLS is the configuration for https URLs: roots, client certificates.
	// Nil uses the host's roots.
	TLS *tls.Config
	// Proxy chooses a proxy for each request, as http.Transport has it;
	// http.ProxyFromEnvironment obeys the environment. Nil uses none, whatever
	// the environment says: a proxy nobody asked for is a measured one.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens connections, as to an engine in memory. Nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// HTTP2 speaks HTTP/2 and nothing else, over TLS or, to an http URL, without
	// (with prior knowledge). Streams then share connections up to the cap that
	// the server sets, and beyond it get further connections. The reply of every
	// request that waited for one to be opened tells so, with the cap, whether or
	// not it was the request that opened it; several that wait at once open more of
	// them than they need. A request counts as sent when it is handed to its
	// connection; the reply warns where it was handed over twice, because the
	// connection had no stream left by then. Handed over a third time, it waits in
	// net/http for a second first, and each further time for twice as long: Connect
	// has these waits in it, and where there was room at once what taking it took,
	// some microseconds.
	// False speaks HTTP/1.1.
	HTTP2 bool

	// Fresh sends each generation on a connection of its own. False keeps
	// connections, until the server is seen to close them after a stream.
	Fresh bool

	// Extra are additional fields of the request's JSON object, such as
	// llama.cpp's cache_prompt. A field that the client sets itself is
	// refused. Nil adds none.
	Extra map[string]any
	// Omit names optional fields that must not be sent, for servers that
	// reject what they do not know without naming it: see Generate. Nil sends
	// all.
	Omit []string
	// TokenIDs asks for the token ids of each event (return_token_ids), which
	// give counts per event where the server has no running usage. False asks
	// for running usage only, because with ids the first event repeats the
	// whole prompt and is slower for it.
	TokenIDs bool

	// Silence is the longest time without a byte of a reply, keep-alive
	// comments included, before a generation is given up as silent. Zero
	// waits for as long as the context does.
	Silence time.Duration
	// Timeout bounds each request that is not a generation (models, metrics,
	// flush), unless its context ends earlier. Zero is 10 s; negative is no
	// bound.
	Timeout time.Duration
	// Kind is what Describe calls the engine. Empty is "openai".
	Kind string
}
