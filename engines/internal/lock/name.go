package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// CPU is the processor of this host, for servers that compute on it.
const CPU = "cpu"

// Accelerators are all devices of this host that cannot be told apart.
const Accelerators = "accelerators"

// GPU is a device by its UUID.
func GPU(uuid string) string { return "gpu " + uuid }

// URL is the server at a URL: scheme, host, port and path in one spelling. All
// names and addresses of this host are one. User information, query, fragment
// and "/v1" at the end are no part of it.
func URL(raw string) string { return thisHost.url(raw) }

// url is URL on a host.
func (h *host) url(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		sum := sha256.Sum256([]byte(raw)) // it may hold a key, so it is not shown
		return "url " + hex.EncodeToString(sum[:6])
	}
	scheme, name, port := strings.ToLower(u.Scheme), h.spelling(u.Hostname()), strings.TrimLeft(u.Port(), "0")
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	if port != "" {
		port = ":" + port
	}
	path := strings.TrimSuffix(strings.TrimRight(u.EscapedPath(), "/"), "/v1")
	return scheme + "://" + name + port + strings.TrimRight(path, "/")
}

// Folder is where locks are unless OPENLOOP_LOCKS says otherwise: in this
// user's cache, or in a temporary folder where the user has none. Users who
// share a device, and containers, need one that they share.
func Folder() string {
	if cache, err := os.UserCacheDir(); err == nil {
		return filepath.Join(cache, "openloop", "locks")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("openloop-locks-%d", os.Getuid()))
}

// fileName is a readable name for files that no other resource has.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '-'
	}, name)
	safe = strings.TrimLeft(safe, ".") // no hidden file, and none above
	sum := sha256.Sum256([]byte(name))
	return safe[:min(len(safe), 80)] + "-" + hex.EncodeToString(sum[:4])
}
