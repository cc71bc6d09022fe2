package secret

import (
	"fmt"
	"io"
	"strconv"
)

// Format is fmt.Formatter's method for what has secrets: whichever the verb, it
// writes text, quoted for %q, or goText for %#v. (fmt asks nobody for %p, which is
// for pointers, nor where it finds a value in another's unexported field.)
func Format(to fmt.State, verb rune, text, goText string) {
	switch {
	case verb == 'v' && to.Flag('#'):
		text = goText
	case verb == 'q':
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(to, text)
}
