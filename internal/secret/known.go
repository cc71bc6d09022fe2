package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Known are secrets that were given, and can be found wherever they turn up. The
// zero value has none.
type Known struct{ spellings []string }

// Values are secrets as they are and as JSON, Go or a URL writes them. Those that
// are shorter than Least are left out.
func Values(secrets ...string) Known {
	var all []string
	for _, s := range secrets {
		if len(s) < Least {
			continue
		}
		quoted := strconv.Quote(s)
		all = append(all, s, url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":"), quoted[1:len(quoted)-1])
		if b, err := json.Marshal(s); err == nil {
			all = append(all, string(b[1:len(b)-1]))
		}
	}
	slices.Sort(all)
	return Known{slices.Compact(all)}
}

// Given are the secrets of a client of an HTTP server: its API key, the values of
// its headers, with and without the scheme before them, and the user information
// of its URL, which may be nil: the password, and the header that it becomes.
func Given(key string, header map[string][]string, user *url.Userinfo) Known {
	secrets := []string{key}
	for _, values := range header {
		for _, value := range values {
			_, behind, _ := strings.Cut(value, " ") // as in "Bearer KEY"
			secrets = append(secrets, value, behind)
		}
	}
	if user != nil {
		password, _ := user.Password()
		_, escaped, _ := strings.Cut(user.String(), ":")
		secrets = append(secrets, password, escaped, base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	return Values(secrets...)
}

// Redact returns the text without the secrets. What two of them share is one.
func (k Known) Redact(text string) string {
	var found []span
	for _, s := range k.spellings {
		for at := 0; ; {
			i := strings.Index(text[at:], s)
			if i < 0 {
				break
			}
			found = append(found, span{at + i, at + i + len(s)})
			at += i + 1
		}
	}
	if found == nil {
		return text
	}
	return without(text, found)
}
