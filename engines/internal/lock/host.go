package lock

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"
)

// host is what a host is called. What it answers is kept, so that one process
// has one name for a server.
type host struct {
	name      func() (string, error)
	addresses func() ([]net.Addr, error)
	// lookup finds the addresses of a name.
	lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	known  sync.Map // names and addresses → spelling
}

var thisHost = &host{
	name: os.Hostname, addresses: net.InterfaceAddrs,
	lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	},
}

// itself is how the host is spelled whatever it is called.
const itself = "127.0.0.1"

// lookupPatience bounds the wait for a name server: a name whose addresses are
// not told in time stands for itself.
const lookupPatience = time.Second

// spelling is the one spelling of a name or an address.
func (h *host) spelling(name string) string {
	name = strings.ToLower(name)
	if spelling, ok := h.known.Load(name); ok {
		return spelling.(string)
	}
	spelling, _ := h.known.LoadOrStore(name, h.spell(name))
	return spelling.(string)
}

func (h *host) spell(name string) string {
	if addr, err := netip.ParseAddr(name); err == nil {
		if h.has(addr) {
			return itself
		}
		return addr.Unmap().String()
	}
	name = strings.TrimSuffix(name, ".")
	// RFC 6761: these names are this host's, whatever a name server says.
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return itself
	}
	if own, err := h.name(); err == nil && strings.EqualFold(own, name) {
		return itself
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupPatience)
	defer cancel()
	addrs, err := h.lookup(ctx, name)
	if err != nil || len(addrs) == 0 {
		return name
	}
	for _, addr := range addrs {
		if !h.has(addr) {
			return name
		}
	}
	return itself
}

// has reports an address of this host: a loopback's, one of an interface, or
// the one that stands for all of them.
func (h *host) has(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	own, err := h.addresses()
	if err != nil {
		return false
	}
	for _, a := range own {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap().WithZone("") == addr {
			return true
		}
	}
	return false
}
