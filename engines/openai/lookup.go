package openai

import (
	"context"
	"fmt"
	"net"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"time"
)

const (
	// lookupLimit bounds the look-up of a host's name. Resolvers ask again after
	// five seconds (resolv.conf(5)), so that one lost question does not end it.
	lookupLimit = 5500 * time.Millisecond
	// slowLookup is how long a look-up takes at least for a reply to tell of it,
	// and longLookup for it to be no matter of course. Replies tell of these and
	// not of what it took, so that they say the same.
	slowLookup = time.Millisecond
	longLookup = 100 * time.Millisecond
)

// naming is the looking up of a name for one connection.
type naming struct {
	mu    sync.Mutex
	began time.Time // zero while there is none
	took  time.Duration
	limit *time.Timer
	late  bool // it was given up
}

// trace notes when it begins and ends, from whichever goroutine; giveUp ends it
// at its limit.
func (n *naming) trace(giveUp func()) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) {
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.limit != nil {
				n.limit.Stop()
			}
			n.began = time.Now()
			n.limit = time.AfterFunc(lookupLimit-n.took, func() {
				n.mu.Lock()
				n.late = true
				n.mu.Unlock()
				giveUp()
			})
		},
		DNSDone: func(httptrace.DNSDoneInfo) { n.end() },
	}
}

// end is when it has ended; false if it was given up.
func (n *naming) end() (took time.Duration, inTime bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.began.IsZero() {
		n.limit.Stop()
		n.took, n.began = n.took+time.Since(n.began), time.Time{}
	}
	return n.took, !n.late
}

// open opens a connection. slow is what a reply has to say of the look-up of the
// host's name, if it waited for it; empty where that was quick.
func (t *transport) open(ctx context.Context, network, addr string) (c net.Conn, slow string, err error) {
	host, _, _ := net.SplitHostPort(addr)
	var n naming
	if _, name := netip.ParseAddr(host); name != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		ctx = httptrace.WithClientTrace(ctx, n.trace(cancel))
	}
	c, err = t.dial(ctx, network, addr)
	took, inTime := n.end()
	switch {
	case err == nil:
		t.opened.Add(1)
	case !inTime:
		err = &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{
			Err: fmt.Sprintf("no answer within %v", lookupLimit), Name: host, IsTimeout: true}}
	}
	if took >= slowLookup {
		slow = t.slow(addr, host, took)
	}
	return c, slow, err
}

// slow is what a reply has to say of the look-up of a host. With a proxy it is the
// proxy's, unless Config.Proxy leaves the server out.
func (t *transport) slow(addr, host string, took time.Duration) string {
	least, where := slowLookup, "the URL"
	if took >= longLookup {
		least = longLookup
	}
	if t.Proxy != nil && addr != t.address {
		where = "Config.Proxy"
	}
	return fmt.Sprintf("the look-up of host %q took %v or longer, which is in TTFT: use an address in %s, or let connections be kept", host, least, where)
}
