package openai

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

const (
	useHTTPS = "the server speaks TLS: use https:// in the URL"
	useHTTP  = "the server does not speak TLS: use http:// in the URL"
)

// What tells a server that speaks another protocol than the URL says, in lower
// case.
var (
	// wantsTLS are in the answers of Go's servers, nginx and Apache to plain
	// HTTP where they expect TLS.
	wantsTLS = []string{"http request to an https server", "plain http request was sent to https port", "plain http to an ssl-enabled server port"}
	// sentAlert is how a TLS alert reads for one that expects HTTP.
	sentAlert = []string{`malformed http response "\x15\x03`}
	// notHTTP2 is what net/http says where HTTP/1.1 answers HTTP/2, by who reads
	// the answer first.
	notHTTP2 = []string{"frame header looked like an http/1.1 header", "http2: client conn could not be established", errNotHTTP2.Error()}
)

// hasAny reports that a text has one of the marks, which are in lower case.
func hasAny(text string, marks []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(text, m) })
}

// cause is the reason of a failure in words, with what to do about it.
func (e *Engine) cause(class engines.Class, a *attempt, err error) string {
	var (
		dns     *net.DNSError
		timeout net.Error
	)
	words, _ := tlsCause(err)
	switch {
	case class == engines.Client:
		_, where := e.dialled()
		return outOfIt(err, where)
	case class == engines.Stale:
		return "the server closed the connection, kept alive from an earlier request, as this one was sent (" + err.Error() + "): set Config.Fresh if it does so often" + e.through(class, err)
	case errors.As(err, &dns):
		words = e.lookup(dns)
	case words != "":
	case hasAny(err.Error(), notHTTP2):
		return "the server does not answer in HTTP/2: leave Config.HTTP2 off"
	case hasAny(err.Error(), sentAlert):
		return useHTTPS
	case !a.kept && e.noHTTP(err) != "":
		words = e.noHTTP(err)
	case refused(err):
		who, where := e.dialled()
		words = "connection refused: start the " + who + " or correct " + where
	case noRoute(err):
		_, where := e.dialled()
		words = err.Error() + ": correct " + where + ", or this host's network"
	case a.got.IsZero() && errors.As(err, &timeout) && timeout.Timeout():
		words = err.Error() + ": " + e.silentAddress()
	case brokenOff(err):
		return e.hungUp(a, err) + e.through(class, err)
	default:
		words = err.Error()
	}
	return words + e.through(class, err)
}

// hungUp says how far a connection had come that the server broke off.
func (e *Engine) hungUp(a *attempt, err error) string {
	did := "closed the connection"
	if !atEnd(err) {
		did = "broke the connection off (" + err.Error() + ")"
	}
	if a.reply.Status != 0 {
		return "the server " + did + " before its answer had ended: look into its log"
	}
	if e.route.Scheme == "https" && e.cfg.Dial == nil && !e.settled.Load() && (e.cfg.TLS == nil || len(e.cfg.TLS.Certificates) == 0) {
		return "the server " + did + " without an answer: look into its log, or set Config.TLS.Certificates if it wants to know its clients"
	}
	return "the server " + did + " without an answer: look into its log"
}

// lookup is why a host's address is not known.
func (e *Engine) lookup(dns *net.DNSError) string {
	_, where := e.dialled()
	switch {
	case dns.IsNotFound:
		return fmt.Sprintf("host %q not found: correct %s", dns.Name, where)
	case dns.IsTimeout:
		return fmt.Sprintf("host %q could not be looked up in time: correct this host's name server, or use an address in %s", dns.Name, where)
	}
	return fmt.Sprintf("host %q could not be looked up: %s: correct this host's name server, or use an address in %s", dns.Name, dns.Err, where)
}

// outOfIt says what this host lacks. Where is what says to whom it opens connections.
func outOfIt(err error, where string) string {
	var op *net.OpError
	if noAddress(err) && errors.As(err, &op) {
		if to, ok := op.Addr.(*net.TCPAddr); ok && to.IP.To4() == nil {
			return err.Error() + ": this host has no port left, or no IPv6: use an IPv4 address in " + where
		}
	}
	return err.Error() + ": this host has run out of it, not the server" + shortage(err)
}
