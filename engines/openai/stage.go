package openai

import (
	"fmt"
	"net/http/httptrace"
	"sync/atomic"
)

// stage is how far a connection has come that is being opened.
type stage struct{ atomic.Int32 }

const (
	looksUp int32 = iota + 1
	connects
	isConnected
	shakesHands // through a proxy, which has opened the way
)

// trace notes the stages as they come, from whichever goroutine.
func (s *stage) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { s.Store(looksUp) },
		ConnectStart: func(string, string) { s.Store(connects) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				s.Store(isConnected)
			}
		},
		TLSHandshakeStart: func() { s.Store(shakesHands) },
	}
}

// stuck is why a connection was not opened in time, by the stage that it was in.
func (e *Engine) stuck(at *stage) string {
	used, _ := e.Proxy()
	switch stage := at.Load(); {
	case stage == looksUp:
		_, where := e.dialled()
		return fmt.Sprintf("%s was being looked up: correct this host's name server, or use an address in %s", e.lookedUp(), where)
	case stage == isConnected && used != "":
		return "the proxy opens no way to the server: look into its log, or correct the URL"
	case stage >= isConnected && e.route.Scheme == "https":
		return "the server does not answer a TLS handshake: use http:// in the URL if it does not speak TLS"
	}
	return e.silentAddress()
}

// lookedUp is whose name is looked up.
func (e *Engine) lookedUp() string {
	if used, _ := e.Proxy(); used != "" {
		return "the host of the proxy"
	}
	return fmt.Sprintf("host %q", e.route.Hostname())
}

// silentAddress is what to do where nothing answers.
func (e *Engine) silentAddress() string {
	_, where := e.dialled()
	return "nothing answers at this address: correct " + where + ", or have the firewall let it pass"
}
