package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// placeholders are what servers that want no key are given for one, and the words
// that stand for no value.
var placeholders = []string{
	"vllm", "sglang", "ollama", "openai", "llama", "llamacpp", "llama.cpp", "llama-cpp", "local", "localhost",
	"no-key", "nokey", "no-key-required", "not-needed", "not-used", "unused", "sk-no-key-required",
	"none", "null", "true", "false", "undefined", "empty", "dummy", "fake", "test", "demo", "token", "user", "admin", "api-key",
}

// standsIn reports a value that stands for no secret.
func standsIn(value string) bool { return slices.Contains(placeholders, strings.ToLower(value)) }

// number reports a value of digits alone. Of Least digits and more it may be a key.
func number(value string) bool { return strings.Trim(value, "0123456789") == "" }

// escape is a character that is written as others, of which the last may look
// like a word's.
var escape = regexp.MustCompile(`(?:\\[abfnrtv]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})$`)

// wordsOf are the places of a text where a word stands that is not part of
// another.
func wordsOf(text, word string) []span {
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	var found []span
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return found
		}
		from, to := at+i, at+i+len(word)
		at = from + 1
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[to:])
		begins := !inWord(first) || !inWord(before) || escape.MatchString(text[max(0, from-6):from])
		if begins && (!inWord(last) || !inWord(after)) {
			found = append(found, span{from, to})
		}
	}
}

// inWord reports a character that words are written with; what is no character
// (utf8.RuneError, which stands for the ends of the text too) is none.
func inWord(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
