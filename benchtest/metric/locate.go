package metric

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// locate finds the first place of a JSON text that is no value here: broken
// syntax, the end, a number that a float64 cannot hold, or null, which would
// read as a zero. It returns the path there and what is wrong; why is empty
// when nothing is.
func locate(text []byte) (path, why string) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var at position
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) && len(at) == 0 {
			return "", ""
		}
		if err != nil {
			return at.String(), syntax(text, dec.InputOffset(), err)
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				at = append(at, level{list: token == '['})
				continue
			}
			at = at[:len(at)-1]
		case string:
			if at.wantsKey() {
				at[len(at)-1].key, at[len(at)-1].keyed = token, true
				continue
			}
		case json.Number:
			if _, err := strconv.ParseFloat(token.String(), 64); err != nil {
				return at.String(), token.String() + " is out of the range of numbers"
			}
		case nil:
			return at.String(), "null: what is missing is left out"
		}
		at.next()
	}
}

// syntax words what the decoder stumbled over, with the text there.
func syntax(text []byte, offset int64, err error) string {
	rest := strings.TrimLeft(string(text[min(int(offset), len(text)):]), " \t,:")
	if rest == "" || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Sprintf("cut off after %s bytes", thousands(len(text)))
	}
	if i := strings.IndexAny(rest, ",]} \t"); i > 0 {
		rest = rest[:i]
	}
	if len(rest) > 24 {
		rest = rest[:24] + "…"
	}
	return strconv.Quote(rest) + " is no JSON value"
}

// position is where a decoder is: the objects and lists around it.
type position []level

type level struct {
	list  bool
	index int
	key   string
	keyed bool // the key has been read and its value has not
}

func (p position) wantsKey() bool {
	return len(p) > 0 && !p[len(p)-1].list && !p[len(p)-1].keyed
}

// next steps past a value.
func (p position) next() {
	if len(p) == 0 {
		return
	}
	top := &p[len(p)-1]
	top.index++
	top.keyed = false
}

// String is the path, as in "requests[17].sent".
func (p position) String() string {
	var b strings.Builder
	for _, l := range p {
		switch {
		case l.list:
			fmt.Fprintf(&b, "[%d]", l.index)
		case l.keyed:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(l.key)
		}
	}
	return b.String()
}
