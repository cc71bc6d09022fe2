package doctor

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/openloop-go/openloop/internal/secret"
)

// rawClient shows what the streaming client hides: headers, the protocol's
// version and which connection was used.
type rawClient struct {
	transport *http.Transport
	fresh     *http.Transport // keeps no connection
	root      string
	header    http.Header
	patience  time.Duration
	secrets   secret.Known
}

func newRawClient(cfg *Config, root string) *rawClient {
	c := &rawClient{root: root, header: http.Header{}, patience: cfg.Patience}
	for name, values := range cfg.Header {
		for _, value := range values {
			c.header.Add(name, value)
		}
	}
	var user *url.Userinfo
	if u, err := url.Parse(cfg.URL); err == nil && u.User != nil {
		user = u.User
		password, _ := user.Password()
		r := http.Request{Header: c.header}
		r.SetBasicAuth(user.Username(), password)
	}
	c.secrets = secret.Given(cfg.APIKey, cfg.Header, user)
	if cfg.APIKey != "" {
		c.header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	c.transport = &http.Transport{
		Proxy: cfg.Proxy, DialContext: cfg.Dial, TLSClientConfig: http1(cfg.TLS), DisableCompression: true,
		IdleConnTimeout: 4 * time.Second, Protocols: new(http.Protocols),
	}
	c.transport.Protocols.SetHTTP1(true)
	c.fresh = c.transport.Clone()
	c.fresh.DisableKeepAlives = true
	return c
}

// http1 is a TLS configuration that offers HTTP/1.1 only, as the streaming
// client does.
func http1(cfg *tls.Config) *tls.Config {
	if cfg == nil {
		cfg = &tls.Config{}
	}
	cfg = cfg.Clone()
	cfg.NextProtos = []string{"http/1.1"}
	return cfg
}

func (c *rawClient) close() { c.transport.CloseIdleConnections() }

// answer is a reply as it came.
type answer struct {
	status int
	proto  string
	header http.Header
	body   []byte // decompressed
	reused bool   // came over a connection of an earlier request
	// closes: the reply says that it is the connection's last.
	closes bool
	// began and ended are the wall clock's times around the request's head.
	began, ended time.Time
}

// do asks once, over a connection of its own, which a server that closes
// connections cannot have closed already.
func (c *rawClient) do(ctx context.Context, method, path string, body map[string]any) (*answer, error) {
	return c.ask(ctx, false, method, path, body)
}

// ask asks once, follows nothing and repeats nothing. It uses a connection that
// was kept, and keeps it, or neither.
func (c *rawClient) ask(ctx context.Context, keep bool, method, path string, body map[string]any) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	a := &answer{began: time.Now()}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { a.reused = info.Reused },
	})
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = io.NopCloser(bytes.NewReader(b)) // hides how to send it again
	}
	r, err := http.NewRequestWithContext(ctx, method, c.root+path, content)
	if err != nil {
		return nil, err
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	from := c.transport
	if !keep {
		from = c.fresh
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "openloop-doctor")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if host := c.header.Get("Host"); host != "" {
		r.Host = host
	}
	resp, err := from.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a.ended = time.Now()
	a.status, a.proto, a.header, a.closes = resp.StatusCode, resp.Proto, resp.Header, resp.Close
	var whole io.Reader = resp.Body
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		if whole, err = gzip.NewReader(resp.Body); err != nil {
			return nil, err
		}
	}
	a.body, err = io.ReadAll(io.LimitReader(whole, 4<<20))
	return a, err
}

// failed reports that the server failed by itself.
func (a *answer) failed() bool { return a.status >= 500 && a.status != http.StatusServiceUnavailable }

// created is the field of that name in the first event of a stream, or in a
// whole answer; false where there is none.
func (a *answer) created() (time.Time, bool) {
	for line := range strings.Lines(string(a.body)) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		var event struct{ Created float64 }
		if json.Unmarshal([]byte(line), &event) == nil && event.Created > 0 {
			return time.Unix(int64(event.Created), 0), true
		}
	}
	return time.Time{}, false
}
