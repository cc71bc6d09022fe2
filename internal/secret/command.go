package secret

import (
	"regexp"
	"strings"
)

// setting finds a name, with its dashes where it is a flag, and what parts it from
// its value in a command line: blanks too, and a line's end that is escaped.
var setting = regexp.MustCompile(`(\B--?|)([A-Za-z][\w.-]*)(=|:\s*|(?:\s|\\\r?\n)+)`)

// flag finds a flag and the blanks after it.
var flag = regexp.MustCompile(`\B--?([A-Za-z][\w.-]*)(?:[ \t]|\\\r?\n)+`)

// marked is a word that was taken out before.
var marked = regexp.MustCompile(`^["'(\[{]*` + regexp.QuoteMeta(Mark) + `(?:["')\]},;:]*(?:\s|$)|&)`)

// Command returns a command line, or another text of names and values, without its
// secrets: those that Redact finds, and whatever follows a name that holds one, up
// to where a shell ends the word. In a sentence that would be too much: "the
// password is wrong" would lose a word.
func Command(s string) string {
	s = Redact(s)
	var found []span
	for _, m := range setting.FindAllStringSubmatchIndex(s, -1) {
		dashed, name, parted, at := m[2] < m[3], s[m[4]:m[5]], s[m[6]:m[7]], m[1]
		blank := strings.TrimSpace(parted) == "" || parted[0] == '\\'
		switch {
		case !Name(name), vocabulary(name) && !dashed && parted != "=":
			continue
		case blank && strings.HasPrefix(s[at:], "-"), marked.MatchString(s[at:]):
			continue
		}
		v := span{at, at + shellWord(s[at:])}
		if after := credentials(s, v); after.from > v.from {
			if marked.MatchString(s[after.from:]) {
				continue
			}
			v = span{after.from, max(after.to, after.from+shellWord(s[after.from:]))}
		}
		text := strings.Trim(s[v.from:v.to], `"'()[]{},;`)
		if none(text) || vocabulary(name) && count(name, text) {
			continue
		}
		found = append(found, v)
	}
	return without(s, found)
}

// usage is what follows a flag where none has its value: a name that stands for it,
// or more of the sentence.
var usage = regexp.MustCompile(`^(?:\[[A-Z][A-Z0-9_]*(?: \.\.\.)?\](?:[\s\])]|$)|\([A-Za-z]+(?:[\s,]|\)(?:\s|$)))`)

// flags takes out the words that follow flags of secrets, and those of lists.
func flags(s string) string {
	var found []span
	for _, m := range flag.FindAllStringSubmatchIndex(s, -1) {
		name, at := s[m[2]:m[3]], m[1]
		if !Name(name) || at == len(s) || s[at] == '-' || usage.MatchString(s[at:]) {
			continue
		}
		all := valuesAt(s, at)
		if bracketed.MatchString(s[at:]) && !strings.HasPrefix(s[at:], Mark) {
			all = append(all, span{at, at + len(bracketed.FindString(s[at:]))})
		}
		for _, v := range all {
			v = credentials(s, v)
			if text := s[v.from:v.to]; text != Mark && !none(text) {
				found = append(found, v)
			}
		}
	}
	return without(s, found)
}

// bracketed is a word that begins with a bracket, and with no list or object in it.
var bracketed = regexp.MustCompile(`^[\[({]+[^\s"'\\\[({\])}][^\s"'\\]*`)

// shellWord is the length of the word that a text begins with, as a shell reads it.
func shellWord(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			return i
		case '\\':
			i++
		case '"', '\'':
			end := i + 1
			for end < len(s) && s[end] != c {
				if s[end] == '\\' && c == '"' {
					end++
				}
				end++
			}
			if end >= len(s) { // it has no other
				if blank := strings.IndexAny(s[i:], " \t\r\n"); blank >= 0 {
					return i + blank
				}
				return len(s)
			}
			i = end
		}
	}
	return len(s)
}
