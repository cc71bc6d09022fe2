package secret

import (
	"regexp"
	"strings"
)

// shapes are secrets that are known by their look, wherever they come from.
var shapes = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,})|(?i:\b(bearer) +[A-Za-z0-9._~+/=-]{6,})`)

// places are secrets that are known by where they are, between the first group
// and the second: user information, which reaches up to the last @ before a
// slash, and signatures in URLs, and credentials in headers.
var places = []*regexp.Regexp{
	regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://)[^/\s'"<>]+(@)`),
	regexp.MustCompile(`([?&](?i:[\w-]*(?:key|token|secret|password|signature|sig))=)[^&#\s'"<>]+()`),
	regexp.MustCompile(`((?i:authorization["']?\s*[:=]\s*["']?basic +))[^\s"',}\]]+()`),
}

// named finds a name, the quote after it and what parts it from its value.
var named = regexp.MustCompile(`([A-Za-z][\w.-]*)(\\*["'])?(\s*[:=]\s*)`)

// Redact returns s without the secrets that are known by their look or place, or
// by the name before them (see Name), as in dumps of environments, headers, JSON
// and Python.
func Redact(s string) string {
	s = shapes.ReplaceAllStringFunc(s, func(m string) string {
		if word := m[:min(len(m), 6)]; strings.EqualFold(word, "bearer") {
			return word + " " + Removed
		}
		return Removed
	})
	for _, place := range places {
		s = place.ReplaceAllString(s, "${1}"+Removed+"${2}")
	}
	return values(s)
}

// values takes out the values of names that hold secrets.
func values(s string) string {
	var out strings.Builder
	done := 0
	for _, m := range named.FindAllStringSubmatchIndex(s, -1) {
		name, quoted, parted := s[m[2]:m[3]], m[4] >= 0, s[m[6]:m[7]]
		if m[1] < done || !Name(name) || prose(name, quoted, parted) {
			continue
		}
		for _, v := range valuesAt(s, m[1]) {
			if text := s[v.from:v.to]; text != Removed && !harmless(name, text) {
				out.WriteString(s[done:v.from])
				out.WriteString(Removed)
				done = v.to
			}
		}
	}
	return out.String() + s[done:]
}

// prose reports a word of a sentence, as in "unexpected token: x".
func prose(name string, quoted bool, parted string) bool {
	return !quoted && strings.Contains(parted, ":") && (strings.EqualFold(name, "key") || strings.EqualFold(name, "token"))
}

// harmless reports a value that is none, or the number of a token or key.
func harmless(name, value string) bool {
	switch strings.ToLower(value) {
	case "", "none", "null", "nil", "true", "false", "undefined":
		return true
	}
	all := words(name)
	word := all[len(all)-1]
	return (word == "token" || word == "key") && len(value) < 6 && strings.Trim(value, "0123456789") == ""
}

// span is a part of a text.
type span struct{ from, to int }

// valuesAt finds the value that begins at a place, or those of a list.
func valuesAt(s string, at int) []span {
	if strings.HasPrefix(s[at:], Removed) || at == len(s) {
		return nil
	}
	list := s[at] == '[' || s[at] == '('
	if list {
		at += 1 + blanks(s[at+1:])
	}
	var found []span
	for at < len(s) {
		v, after := valueAt(s, at)
		found = append(found, v)
		next := after + blanks(s[after:])
		if !list || next == after && after == v.to && v.from == v.to || next >= len(s) || s[next] != ',' {
			break
		}
		at = next + 1 + blanks(s[next+1:])
	}
	return found
}

// valueAt finds one value: what a quote holds, which may itself be escaped and
// have one of Python's letters before it, or a word. After is behind its quote.
func valueAt(s string, at int) (v span, after int) {
	letter := 0
	if strings.IndexByte("bBuUrRfF", s[at]) >= 0 && at+1 < len(s) && (s[at+1] == '"' || s[at+1] == '\'') {
		letter = 1
	}
	slashes := len(s[at+letter:]) - len(strings.TrimLeft(s[at+letter:], `\`))
	if q := at + letter + slashes; q < len(s) && (s[q] == '"' || s[q] == '\'') {
		from := q + 1
		for i, escapes := from, 0; i < len(s) && s[i] != '\n'; i++ {
			switch {
			case s[i] == '\\':
				escapes++
				continue
			case s[i] == s[q] && (escapes <= slashes && slashes > 0 || slashes == 0 && escapes%2 == 0):
				return span{from, max(from, i-min(escapes, slashes))}, i + 1
			}
			escapes = 0
		}
		end := len(s)
		if line := strings.IndexByte(s[from:], '\n'); line >= 0 {
			end = from + line
		}
		return span{from, end}, end // its end is missing
	}
	end := at
	if s[at] == '{' {
		return span{at, at}, at // names are looked for in it
	}
	for end < len(s) && !ends(s[end:]) {
		end++
	}
	return span{at, end}, end
}

// ends reports what ends a value that is not quoted. A comma may be part of it,
// and a semicolon.
func ends(s string) bool {
	switch s[0] {
	case ' ', '\t', '\r', '\n', '"', '\'', '}', ')', ']':
		return true
	case ',', ';':
		return len(s) == 1 || strings.IndexByte(" \t\r\n\"'", s[1]) >= 0
	}
	return false
}

// blanks is how many blanks a text begins with.
func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }
