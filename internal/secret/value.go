package secret

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// span is a part of a text.
type span struct{ from, to int }

// without is a text with a mark in the place of each span; those that overlap are
// one.
func without(s string, spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out strings.Builder
	done := 0
	for i := 0; i < len(spans); {
		v := spans[i]
		for i++; i < len(spans) && spans[i].from < v.to; i++ {
			v.to = max(v.to, spans[i].to)
		}
		out.WriteString(s[done:v.from])
		out.WriteString(Mark)
		done = v.to
	}
	return out.String() + s[done:]
}

// scheme is what stands before the credentials of a header. What is behind those
// of the group has parts.
var scheme = regexp.MustCompile(`^(?i:basic|bearer|negotiate|ntlm|token|key|api[-_]?key|ssws|splunk|(digest|aws4-hmac-sha256|oauth|signature)) +`)

// credentials is a value without its scheme, where it has one.
func credentials(s string, v span) span {
	m := scheme.FindStringSubmatchIndex(s[v.from:])
	if m == nil {
		return v
	}
	from, to := v.from+m[1], v.to
	if from > v.to { // the scheme is a word of its own
		if to = wordEnd(s, from); m[2] >= 0 {
			to = from + len(line(s[from:]))
		}
	}
	if strings.TrimSpace(s[from:max(from, to)]) == "" {
		return v
	}
	return span{from, to}
}

// line is a text up to its first line's end.
func line(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

// valuesAt finds the value that begins at a place, or those of a list.
func valuesAt(s string, at int) []span {
	if at == len(s) {
		return nil
	}
	if rest, marked := strings.CutPrefix(s[at:], Mark); marked {
		if rest == "" || rest[0] == '&' || ends(rest) {
			return nil
		}
		return []span{{at, wordEnd(s, at)}} // the rest of what was found
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
		end := from + len(line(s[from:]))
		return span{from, end}, end // its end is missing
	}
	if s[at] == '{' {
		return span{at, at}, at // names are looked for in it
	}
	end := wordEnd(s, at)
	return span{at, end}, end
}

// wordEnd is where a value that is not quoted ends. A mark is part of it.
func wordEnd(s string, at int) int {
	for at < len(s) {
		switch {
		case strings.HasPrefix(s[at:], Mark):
			at += len(Mark)
		case ends(s[at:]):
			return at
		case strings.HasPrefix(s[at:], `\ `):
			at += 2
		default:
			at++
		}
	}
	return at
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
