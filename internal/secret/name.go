package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// within are the words that make a name one of a secret wherever they stand in it,
// as in api_key_file, passwords and Proxy-Authorization.
var within = regexp.MustCompile(`(?i)api[-_]?key|secret|passw|credential|authorization|private[-_]?key`)

// last are the last words of names that hold secrets.
var last = []string{"key", "token"}

// joined are the ends of names whose words are written as one: AUTHTOKEN.
var joined = []string{"accesskey", "accesstoken", "authtoken"}

// open are the words before "token" and "key" that make it a word of a model's
// vocabulary, a count or a name, and no secret.
var open = map[string][]string{
	"token": {
		"bos", "eos", "eot", "eog", "pad", "unk", "sep", "cls", "mask", "stop", "start", "begin", "end", "image", "audio", "video",
		"max", "min", "per", "first", "last", "next", "prompt", "input", "output", "special", "draft",
	},
	"key": {"public", "cache", "hash", "sort"},
}

// Name reports whether a flag, a variable, a header, a setting or a field of that
// name holds a secret: it has API key, secret, password, credential, authorization
// or private key in it, or its last word is key or token, whether the words are
// parted by dashes, underscores or capitals. MAX_TOKENS, TOKENIZER, eos_token and
// --ssl-keyfile are none.
func Name(name string) bool {
	if within.MatchString(name) {
		return true
	}
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
