// Package shape tells what an answer looks like without what it says: by it the
// embedded engine's answers are compared with a real server's.
package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Stream is the shape of each event of a stream, in order. Of several alike that
// follow one another there is one, since how many tokens an event carries is the
// server's to decide.
func Stream(body []byte) ([]string, error) {
	var shapes []string
	for block := range strings.SplitSeq(string(body), "\n\n") {
		data, ok := strings.CutPrefix(block, "data: ")
		if !ok {
			if strings.TrimSpace(block) == "" {
				continue
			}
			return nil, fmt.Errorf("shape: no event: %q", block)
		}
		shape := data
		if data != "[DONE]" {
			var err error
			if shape, err = Of([]byte(data)); err != nil {
				return nil, err
			}
		}
		if n := len(shapes); n == 0 || shapes[n-1] != shape {
			shapes = append(shapes, shape)
		}
	}
	return shapes, nil
}

// Of is the shape of a JSON value: the names of its fields in their order, with
// the kinds of their values. An array has the shape of its first element.
func Of(value []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	var b strings.Builder
	if err := one(d, &b); err != nil {
		return "", fmt.Errorf("shape: %w in %q", err, value)
	}
	if _, err := d.Token(); err != io.EOF {
		return "", fmt.Errorf("shape: more than one value in %q", value)
	}
	return b.String(), nil
}

// one writes the shape of the next value.
func one(d *json.Decoder, b *strings.Builder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return within(d, b, t)
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString("text")
	case bool:
		b.WriteString("bool")
	default:
		b.WriteString("number")
	}
	return nil
}

// within writes the shape of an object or an array that has begun.
func within(d *json.Decoder, b *strings.Builder, begin json.Delim) error {
	b.WriteString(begin.String())
	for n := 0; d.More(); n++ {
		if begin == '[' {
			to := b
			if n > 0 {
				to = &strings.Builder{} // as the first one
			}
			if err := one(d, to); err != nil {
				return err
			}
			continue
		}
		name, err := d.Token()
		if err != nil {
			return err
		}
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "%s: ", name)
		if err := one(d, b); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	fmt.Fprint(b, end)
	return nil
}
