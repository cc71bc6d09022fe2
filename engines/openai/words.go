package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordLimit bounds what a message quotes of a server's text, in bytes.
const wordLimit = 300

// words is a server's text on one line and of bounded length.
func words(s string) string {
	s = strings.Map(printable, strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "))
	if len(s) <= wordLimit {
		return s
	}
	cut := wordLimit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// printable replaces what would act on the terminal that shows it.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}

// serverWords is the message in a body, whatever its form: an error object in
// any spelling, an HTML page by its title, or text as it stands.
func serverWords(body []byte) string {
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), byteOrderMark))
	if len(body) == 0 {
		return ""
	}
	if body[0] == '<' {
		return htmlWords(string(body))
	}
	o := object(body)
	for _, name := range []string{"error", "message", "detail", "msg"} {
		if raw := json.RawMessage(o[name]); present(raw) {
			if said := words(text(raw)); said != "" {
				return said
			}
		}
	}
	return words(string(body))
}

// htmlWords names a page by its title.
func htmlWords(page string) string {
	lower := strings.ToLower(page)
	if i := strings.Index(lower, "<title"); i >= 0 && len(lower) == len(page) {
		if open := strings.IndexByte(lower[i:], '>'); open >= 0 {
			rest := page[i+open+1:]
			if end := strings.Index(strings.ToLower(rest), "</title"); end > 0 {
				return fmt.Sprintf("an HTML page (%q)", words(html.UnescapeString(rest[:end])))
			}
		}
	}
	return "an HTML page"
}
