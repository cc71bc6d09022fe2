package secret

import (
	"regexp"
	"strings"
)

// shapes are secrets that are known by their look, wherever they come from.
var shapes = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,})|(?i:\b(bearer) +[A-Za-z0-9._~+/=-]{6,})`)

// places are secrets that are known by where they are, between the first group
// and the second: user information, which reaches up to the last @ before a
// slash, and signatures in URLs.
var places = []*regexp.Regexp{
	regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://)[^/\s'"<>]+(@)`),
	regexp.MustCompile(`([?&](?i:[\w-]*(?:key|token|secret|password|signature|sig))=)[^&#\s'"<>]+()`),
}

// named finds a name, the quote after it and what parts it from its value.
var named = regexp.MustCompile(`([A-Za-z][\w.-]*)(\\*["'])?(\s*[:=]\s*)`)

// Redact returns s without the secrets that are known by their look or place, or
// by the name before them (see Name), as in dumps of environments, headers, JSON
// and Python, and behind flags.
func Redact(s string) string {
	s = shapes.ReplaceAllStringFunc(s, func(m string) string {
		if word := m[:min(len(m), 6)]; strings.EqualFold(word, "bearer") {
			return word + " " + Mark
		}
		return Mark
	})
	for _, place := range places {
		s = place.ReplaceAllString(s, "${1}"+Mark+"${2}")
	}
	return flags(values(s))
}

// values takes out the values of names that hold secrets.
func values(s string) string {
	var found []span
	for _, m := range named.FindAllStringSubmatchIndex(s, -1) {
		name, quoted, parted := s[m[2]:m[3]], m[4] >= 0, s[m[6]:m[7]]
		if !Name(name) || prose(name, quoted, parted) {
			continue
		}
		for _, v := range valuesAt(s, m[1]) {
			v = credentials(s, v)
			if text := s[v.from:v.to]; text != Mark && !none(text) && !count(name, text) {
				found = append(found, v)
			}
		}
	}
	return without(s, found)
}

// prose reports a word of a sentence, as in "unexpected token: x".
func prose(name string, quoted bool, parted string) bool {
	return !quoted && strings.Contains(parted, ":") && vocabulary(name)
}

// vocabulary reports a name of the one word key or token.
func vocabulary(name string) bool {
	return strings.EqualFold(name, "key") || strings.EqualFold(name, "token")
}

// none reports a value that is no secret.
func none(value string) bool {
	switch strings.ToLower(value) {
	case "", "none", "null", "nil", "true", "false", "undefined":
		return true
	}
	return false
}

// count reports the number of a token or key, which those of an API and private
// ones do not have.
func count(name, value string) bool {
	if within.MatchString(name) {
		return false
	}
	all := words(name)
	word := all[len(all)-1]
	return (word == "token" || word == "key") && len(value) < Least && strings.Trim(value, "0123456789") == ""
}
