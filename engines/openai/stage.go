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
	shakesHands
)

// trace notes the stages as they come, from whichever goroutine.
func (s *stage) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { s.Store(looksUp) },
		ConnectStart: func(string, string) { s.Store(connects) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				s.Store(shakesHands)
			}
		},
	}
}

// stuck is why a connection was not opened in time, by the stage that it was in.
func (e *Engine) stuck(at *stage) string {
	switch stage := at.Load(); {
	case stage == looksUp:
		return fmt.Sprintf("host %q was being looked up: correct this host's name server, or use an address in the URL", e.route.Hostname())
	case stage == shakesHands && e.route.Scheme == "https":
		return "the server does not answer a TLS handshake: use http:// in the URL if it does not speak TLS"
	}
	return "nothing answers at this address: correct the URL, or have the firewall let it pass"
}
