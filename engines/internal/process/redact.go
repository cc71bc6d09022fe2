package process

import (
	"regexp"
	"sort"
	"strings"
)

// removed stands where a secret was.
const removed = "[removed]"

// shortestSecret is the length below which a value is not searched for in
// text: removing every "1" would leave nothing to read.
const shortestSecret = 6

// shapes are secrets that are known by their look, wherever they come from.
var shapes = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,})|(?i:\b(bearer) +[A-Za-z0-9._~+/=-]{6,})`)

// places are secrets that are known by where they are, behind the first group:
// user information and keys in URLs, and values of names that only secrets have,
// as in a dump of an environment or of headers.
var places = []*regexp.Regexp{
	regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@'"<>]+(@)`),
	regexp.MustCompile(`([?&](?i:[\w-]*(?:key|token|secret|password|signature|sig))=)[^&#\s'"<>]+()`),
	regexp.MustCompile(`((?i:authorization["']?\s*[:=]\s*["']?basic +))[^\s"',}\]]+()`),
	regexp.MustCompile(`((?i:\b[\w-]*(?:api[-_]?key|password|passwd|client[-_]?secret)["']?\s*[:=]\s*["']?))[^\s"',{}()\[\]]{6,}()`),
}

// Redact returns s without the secrets that are known by their look or place.
func Redact(s string) string {
	s = shapes.ReplaceAllStringFunc(s, func(m string) string {
		if word := m[:min(len(m), 6)]; strings.EqualFold(word, "bearer") {
			return word + " " + removed
		}
		return removed
	})
	for _, place := range places {
		s = place.ReplaceAllString(s, "${1}"+removed+"${2}")
	}
	return s
}

// redactor removes secrets from text.
type redactor struct{ values *strings.Replacer }

// newRedactor collects the secrets of a command line and of an environment by
// the names of their flags and variables.
func newRedactor(command, env, more []string) *redactor {
	values := append([]string(nil), more...)
	for i, secret := range secretArgs(command) {
		if secret {
			_, value := splitFlag(command[i])
			values = append(values, value)
		}
	}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && SecretName(name) {
			values = append(values, value)
		}
	}
	// The longest first, so that no secret's beginning hides its end.
	sort.Slice(values, func(i, j int) bool { return len(values[i]) > len(values[j]) })
	var pairs []string
	for _, v := range values {
		if len(v) >= shortestSecret {
			pairs = append(pairs, v, removed)
		}
	}
	return &redactor{values: strings.NewReplacer(pairs...)}
}

// text returns s without secrets.
func (r *redactor) text(s string) string { return Redact(r.values.Replace(s)) }

// command returns the command line as one string: secrets removed, arguments
// quoted where a shell would need it.
func (r *redactor) command(args []string) string {
	secret := secretArgs(args)
	words := make([]string, len(args))
	for i, arg := range args {
		switch flag, _ := splitFlag(arg); {
		case secret[i] && flag != "":
			words[i] = flag + "=" + removed
		case secret[i]:
			words[i] = removed
		default:
			words[i] = quote(r.text(arg))
		}
	}
	return strings.Join(words, " ")
}

// secretArgs marks the arguments that hold a secret: --api-key=VALUE, and all
// that follow --api-key up to the next flag, since a flag may take several.
func secretArgs(args []string) []bool {
	secret := make([]bool, len(args))
	inside := false
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			secret[i] = inside && i > 0
			continue
		}
		flag, _, joined := strings.Cut(arg, "=")
		named := SecretName(strings.TrimLeft(flag, "-"))
		secret[i] = named && joined
		inside = named && !joined
	}
	return secret
}

// splitFlag splits --flag=value; a bare value has no flag.
func splitFlag(arg string) (flag, value string) {
	if strings.HasPrefix(arg, "-") {
		flag, value, _ = strings.Cut(arg, "=")
		return flag, value
	}
	return "", arg
}

// SecretName reports whether a flag or variable of that name holds a secret:
// the last word is key, token, secret or password. MAX_TOKENS, TOKENIZER and
// --ssl-keyfile are none.
func SecretName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' })
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "key", "apikey", "token", "secret", "password", "passwd", "credential", "credentials":
		return true
	}
	return false
}

// quote puts a word that a shell would split or expand into single quotes.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%[]"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
