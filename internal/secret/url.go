package secret

import (
	"net/url"
	"strings"
)

// URL is a URL without what may be a secret in it: no user information and no
// fragment, and of a query only that there is one. False is a text that is no
// URL, or that may hold a secret where a URL has none, as one without its scheme
// does: "ann:password@host" names a scheme "ann".
func URL(raw string) (shown string, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" && strings.Contains(raw, "@") || u.Host == "" && strings.Contains(u.Path, "@") {
		return "", false
	}
	if u.User, u.Fragment, u.RawFragment = nil, "", ""; u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.String(), true
}
