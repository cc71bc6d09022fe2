package openai

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// leastSecret is the length below which a value is part of too many words to be
// taken out of a text: an engine whose key is "vllm" would lose its name.
const leastSecret = 6

// Redact returns the text without the engine's secrets, such as a key that a
// server echoes: the key, header values and the password of the URL, as they are
// and as JSON or a URL writes them. It implements engines.Redactor.
func (e *Engine) Redact(text string) string {
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

// spellings are the secrets as texts may have them, the longest first.
func spellings(secrets []string) []string {
	var out []string
	for _, secret := range secrets {
		if len(secret) < leastSecret {
			continue
		}
		out = append(out, secret, url.QueryEscape(secret), url.PathEscape(secret))
		if quoted, err := json.Marshal(secret); err == nil {
			out = append(out, string(quoted[1:len(quoted)-1]))
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(out)
}
