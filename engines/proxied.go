package engines

// Proxied is an engine whose requests may go through a proxy, which is measured
// with the server and may hold back what that streams.
type Proxied interface {
	// Proxy is the proxy that requests go through, without user information;
	// empty where they go straight to the server. Unused is the environment
	// variable that names a proxy which is not used, though the server may be
	// behind it; empty where there is none.
	Proxy() (used, unused string)
}
