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
type Known struct {
	// spellings are found wherever they are, short ones as words of their own.
	spellings, short []string
}

// Values are secrets as they are and as JSON, Go or a URL writes them. What stands
// for no key is none, however long; those that are shorter than Least are found as
// words of their own (see LeastWord).
func Values(secrets ...string) Known {
	var k Known
	for _, s := range secrets {
		switch {
		case standsIn(s):
		case len(s) >= Least:
			k.spellings = append(k.spellings, spellings(s)...)
		case len(s) >= LeastWord && !number(s):
			k.short = append(k.short, spellings(s)...)
		}
	}
	for _, all := range []*[]string{&k.spellings, &k.short} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	return k
}

// spellings are how a secret is written.
func spellings(s string) []string {
	quoted := strconv.Quote(s)
	all := []string{s, url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":"), quoted[1 : len(quoted)-1]}
	if b, err := json.Marshal(s); err == nil {
		all = append(all, string(b[1:len(b)-1]))
	}
	return all
}

// Given are the secrets of a client of an HTTP server: its API key, the values of
// its headers, with and without the scheme before them, and the user information
// of its URL, which may be nil: the password, or a user without one, which is a
// token, and the header that they become. Of headers that hold none by their name,
// short values are none.
func Given(key string, header map[string][]string, user *url.Userinfo) Known {
	secrets := []string{key}
	for name, values := range header {
		for _, value := range values {
			_, behind, _ := strings.Cut(value, " ") // as in "Bearer KEY"
			for _, v := range []string{value, behind} {
				if len(v) >= Least || Name(name) {
					secrets = append(secrets, v)
				}
			}
		}
	}
	if user != nil {
		password, _ := user.Password()
		name, escaped, _ := strings.Cut(user.String(), ":")
		if password == "" {
			secrets = append(secrets, user.Username(), name)
		}
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
	for _, s := range k.short {
		found = append(found, wordsOf(text, s)...)
	}
	if found == nil {
		return text
	}
	return without(text, found)
}
