package process

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func newTestLog(t *testing.T) *Log {
	t.Helper()
	l, err := openLog("server", filepath.Join(t.TempDir(), "log"), newRedactor(nil, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() })
	return l
}

// What a server says at work is asked about once it is ready, and the first line
// that tells of its death is kept.
func TestDreadIsTheFirstLineThatTellsOfIt(t *testing.T) {
	l := newTestLog(t)
	dying := func(line string) bool { return strings.Contains(line, "died") }
	l.watch(func(string) bool { return false })
	fmt.Fprintln(l, "a worker died while it was loading")
	l.attend(dying)
	if got := l.Dread(); got != "" {
		t.Errorf("before it was ready: %q", got)
	}
	fmt.Fprintln(l, "INFO ok\nengine core died, key\nsomething else died\nbye")
	if got, want := l.Dread(), "engine core died, key"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	tests := []struct {
		name  string
		lines int
		n     int
		want  []string
	}{
		{"none", 0, 3, []string{}},
		{"fewer than asked", 2, 3, []string{"1", "2"}},
		{"more than asked", 5, 3, []string{"3", "4", "5"}},
		{"more than kept", keptLines + 7, 2, []string{fmt.Sprint(keptLines + 6), fmt.Sprint(keptLines + 7)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newTestLog(t)
			var in strings.Builder
			for i := range test.lines {
				fmt.Fprintf(&in, "%d\n\n", i+1) // empty lines are not kept
			}
			copyLines(l, strings.NewReader(in.String()))
			if got := l.Tail(test.n); !reflect.DeepEqual(append([]string{}, got...), test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLogKeepsAllLinesInItsFile(t *testing.T) {
	l := newTestLog(t)
	long := strings.Repeat("x", longestLine+10)
	copyLines(l, strings.NewReader("one\r\n\n"+long+"\nlast, without an end"))
	if err := l.close(); err != nil { // keeps what is no whole line yet
		t.Fatal(err)
	}
	got, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	want := "one\n\n" + long[:longestLine] + "\n" + long[longestLine:] + "\nlast, without an end\n"
	if string(got) != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
