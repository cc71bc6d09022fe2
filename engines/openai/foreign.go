package openai

import (
	"fmt"
	"regexp"
	"strings"
)

// unasked is what net/http says, in lower case, where something speaks before
// it is asked, as a server of SSH or SMTP does: it formats an error that it does
// not have.
const unasked = "readlooppeekfaillocked: %!w(<nil>)"

// malformedHead is what is said of an answer that does not begin as one of HTTP,
// with its first line or what is wrong in it.
var malformedHead = regexp.MustCompile(`malformed HTTP (?:response|status code|version) ("(?:[^"\\]|\\.)*")`)

// noHTTP says of what answered that it is no server of HTTP; empty where
// nothing shows it. With a proxy it is that which answers.
func (e *Engine) noHTTP(err error) string {
	_, where := e.dialled()
	remedy, text := "correct "+where, err.Error()
	if head := malformedHead.FindStringSubmatch(text); head != nil {
		return fmt.Sprintf("what answers does not speak HTTP (it says %s): %s", words(head[1]), remedy)
	}
	if strings.Contains(strings.ToLower(text), unasked) {
		return "what answers does not speak HTTP (it speaks before it is asked): " + remedy
	}
	return ""
}
