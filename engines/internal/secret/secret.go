// Package secret knows secrets by their names, their look and their place, and
// takes them out of what is shown.
package secret

import (
	"slices"
	"strings"
	"unicode"
)

// Removed stands where a secret was.
const Removed = "[removed]"

// last are the last words of names that hold secrets.
var last = []string{"key", "token", "secret", "password", "passwd", "credential", "credentials"}

// joined are the ends of names whose words are written as one: PGPASSWORD.
var joined = []string{"password", "passwd", "apikey", "accesskey", "secretkey", "accesstoken", "authtoken", "secret"}

// open are the words before "token" and "key" that make it a word of a model's
// vocabulary, a count or a name, and no secret.
var open = map[string][]string{
	"token": {
		"bos", "eos", "eot", "eog", "pad", "unk", "sep", "cls", "mask", "stop", "start", "begin", "end", "image", "audio", "video",
		"max", "min", "per", "first", "last", "next", "prompt", "input", "output", "special", "draft",
	},
	"key": {"public", "cache", "hash", "sort"},
}

// Name reports whether a flag, a variable or a field of that name holds a
// secret: its last word is key, token, secret, password or credentials, whether
// the words are parted by dashes, underscores or capitals. MAX_TOKENS, TOKENIZER,
// eos_token and --ssl-keyfile are none.
func Name(name string) bool {
	all := words(name)
	if len(all) == 0 {
		return false
	}
	word := all[len(all)-1]
	if slices.ContainsFunc(joined, func(end string) bool { return strings.HasSuffix(word, end) }) {
		return true
	}
	if !slices.Contains(last, word) {
		return false
	}
	return len(all) == 1 || !slices.Contains(open[word], all[len(all)-2])
}

// words are the words of a name, in lower case.
func words(name string) []string {
	letters := []rune(name)
	var apart strings.Builder
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) {
			before, inside := letters[i-1], i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) && inside {
				apart.WriteByte('_')
			}
		}
		apart.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(apart.String(), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
}
