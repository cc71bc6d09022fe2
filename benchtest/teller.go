package benchtest

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// teller is how a measurement tells a test of its progress: with the line of the
// test that measures, where t is package testing's own. T.Logf would give the line
// here, since no chain of Helper reaches the goroutines that tell. Another T, also
// one that embeds package testing's, has its Logf.
func teller(t T) func(format string, args ...any) {
	o, ok := t.(interface{ Output() io.Writer })
	place := userLine()
	if of := reflect.TypeOf(t); !ok || of.Kind() != reflect.Pointer || of.Elem().PkgPath() != "testing" || place == "" {
		return t.Logf
	}
	return func(format string, args ...any) {
		text := place + ": " + strings.TrimSuffix(fmt.Sprintf(format, args...), "\n")
		// As Logf does, and in one piece: several goroutines may tell.
		_, _ = io.WriteString(o.Output(), strings.ReplaceAll(text, "\n", "\n    ")+"\n")
	}
}

// userLine is the innermost place in a file of tests that this is called from,
// spelled as Logf spells it; empty is none.
func userLine() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.File, "_test.go") {
			file := filepath.Base(frame.File)
			if full := flag.Lookup("test.fullpath"); full != nil && full.Value.String() == "true" {
				file = frame.File
			}
			return fmt.Sprintf("%s:%d", file, frame.Line)
		}
		if !more {
			return ""
		}
	}
}
