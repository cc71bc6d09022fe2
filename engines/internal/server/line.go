package server

import "sync/atomic"

// line is the first line of a log that was found to matter.
type line struct{ text atomic.Pointer[string] }

func (l *line) keep(text string) { l.text.CompareAndSwap(nil, &text) }

// kept is that line; empty while there is none.
func (l *line) kept() string {
	if text := l.text.Load(); text != nil {
		return *text
	}
	return ""
}
