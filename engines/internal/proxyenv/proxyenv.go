// Package proxyenv reads which proxy the environment names for a server.
package proxyenv

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// Names are the variables that name proxies.
var Names = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}

// Excluding are the variables that name the servers without one, of which the
// first that is set counts.
var Excluding = []string{"NO_PROXY", "no_proxy"}

// For is the variable that names a proxy where a server may be behind it; empty
// where none does, the server is on this host, or it is excluded.
func For(server *url.URL) string {
	host := strings.ToLower(server.Hostname())
	ip, _ := netip.ParseAddr(host)
	ip = ip.Unmap()
	if host == "localhost" || ip.IsLoopback() || excluded(host, server.Port(), ip) {
		return ""
	}
	for _, name := range Names {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// excluded reports a host that the environment excludes: by "*", its address, a
// network of it, its name, a domain of it with or without a dot before it, each
// but the network with or without a port.
func excluded(host, port string, ip netip.Addr) bool {
	list := ""
	for _, name := range Excluding {
		if list = os.Getenv(name); list != "" {
			break
		}
	}
	for entry := range strings.SplitSeq(strings.ToLower(list), ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		if entry == "*" {
			return true
		}
		if network, err := netip.ParsePrefix(entry); err == nil {
			if network.Contains(ip) {
				return true
			}
			continue
		}
		if h, p, err := net.SplitHostPort(entry); err == nil {
			if p != port {
				continue
			}
			entry = h
		}
		if one, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
			if one.Unmap() == ip {
				return true
			}
			continue
		}
		domain := strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
		if domain == host && domain == entry || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}
