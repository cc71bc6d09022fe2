package openai

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/internal/proxyenv"
	"github.com/openloop-go/openloop/internal/secret"
)

// through names what lies, or does not lie, between here and a server that is
// not reached: the proxy that is used, or one in the environment, which is not.
func (e *Engine) through(class engines.Class, err error) string {
	used, unused := e.Proxy()
	switch {
	case used != "":
		return " (through the proxy " + used + ", of Config.Proxy)"
	case class == engines.Unreachable && unused != "" && unopened(err):
		return fmt.Sprintf(" (%s is set and is not used: set Config.Proxy if the server is behind it)", unused)
	}
	return ""
}

// dialled is who connections are opened to, and what says where that is: with a
// proxy, it alone.
func (e *Engine) dialled() (who, where string) {
	if used, _ := e.Proxy(); used != "" {
		return "proxy", "Config.Proxy"
	}
	return "server", "the URL"
}

// unopened reports that there is no connection to who was dialled: its name is not
// known, it refuses, or nothing answers.
func unopened(err error) bool {
	var dns *net.DNSError
	var timeout net.Error
	return errors.As(err, &dns) || refused(err) || noRoute(err) || errors.As(err, &timeout) && timeout.Timeout()
}

// Proxy is the proxy that requests go through, without user information; empty
// where they go straight to the server, as they do unless Config.Proxy says
// otherwise. Where that fails it is empty too: no request is sent then, and each
// fails with its error. A proxy may hold back what goes through it, and a record
// names it. Unused is the environment variable that names a proxy which is not
// used, empty where there is none, the server is on this host or NO_PROXY leaves it
// out. It implements engines.Proxied.
func (e *Engine) Proxy() (used, unused string) {
	if e.cfg.Proxy != nil {
		u, err := e.cfg.Proxy(&http.Request{Method: http.MethodPost, URL: e.route, Host: e.host(), Header: http.Header{}})
		if err != nil || u == nil {
			return "", ""
		}
		shown, _ := secret.URL(u.String())
		return shown, ""
	}
	if e.cfg.Dial != nil {
		return "", ""
	}
	return "", proxyenv.For(e.route)
}
