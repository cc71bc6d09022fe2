package benchtest

import (
	"fmt"
	"strings"
)

// classes counts failures by their class, in the order in which each came first,
// with the message of its first.
type classes []classed

type classed struct {
	class, message string
	n              int
}

func (c *classes) add(class, message string) {
	for i := range *c {
		if (*c)[i].class == class {
			(*c)[i].n++
			return
		}
	}
	*c = append(*c, classed{class, message, 1})
}

// String is "first failure: reset: broken pipe", and of several classes "first of
// 60 reset: broken pipe; first of 40 unreachable: connection refused": the first
// by itself does not tell what most of them were.
func (c classes) String() string {
	if len(c) == 1 {
		return "first failure: " + c[0].class + ": " + firstLine(c[0].message)
	}
	var parts []string
	for _, k := range c {
		parts = append(parts, fmt.Sprintf("first of %d %s: %s", k.n, k.class, firstLine(k.message)))
	}
	return strings.Join(parts, "; ")
}
