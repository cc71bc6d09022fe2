package process

import (
	"strings"

	"github.com/openloop-go/openloop/internal/secret"
)

// redactor removes secrets from text.
type redactor struct{ values secret.Known }

// newRedactor collects the secrets of a command line and of an environment by
// the names of their flags and variables. Short values of an environment, which
// is mostly inherited, are none: CREDENTIALS_TYPE=file would take a word out of
// logs.
func newRedactor(command, env, more []string) *redactor {
	values := append([]string(nil), more...)
	for i, hides := range secretArgs(command) {
		if hides {
			_, value := splitFlag(command[i])
			values = append(values, value)
		}
	}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && len(value) >= secret.Least && secret.Name(name) {
			values = append(values, value)
		}
	}
	return &redactor{secret.Values(values...)}
}

// text returns s without secrets.
func (r *redactor) text(s string) string { return secret.Redact(r.values.Redact(s)) }

// command returns the command line as one string: secrets removed, arguments
// quoted where a shell would need it.
func (r *redactor) command(args []string) string {
	hides := secretArgs(args)
	words := make([]string, len(args))
	for i, arg := range args {
		switch flag, _ := splitFlag(arg); {
		case hides[i] && flag != "":
			words[i] = flag + "=" + secret.Mark
		case hides[i]:
			words[i] = secret.Mark
		default:
			words[i] = quote(r.text(arg))
		}
	}
	return strings.Join(words, " ")
}

// secretArgs marks the arguments that hold a secret: --api-key=VALUE, and all
// that follow --api-key up to the next flag, since a flag may take several.
func secretArgs(args []string) []bool {
	marks := make([]bool, len(args))
	inside := false
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			marks[i] = inside && i > 0
			continue
		}
		flag, _, joined := strings.Cut(arg, "=")
		named := secret.Name(strings.TrimLeft(flag, "-"))
		marks[i] = named && joined
		inside = named && !joined
	}
	return marks
}

// splitFlag splits --flag=value; a bare value has no flag.
func splitFlag(arg string) (flag, value string) {
	if strings.HasPrefix(arg, "-") {
		flag, value, _ = strings.Cut(arg, "=")
		return flag, value
	}
	return "", arg
}

// quote puts a word that a shell would split or expand into single quotes.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%[]"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
