package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	keptLines = 200
	// longestLine is where a line without an end is cut, so that a progress
	// bar cannot fill the memory.
	longestLine = 64 << 10
)

// Log is the output of a server: a file and its last lines. Secrets are
// removed before anything is kept. As an io.Writer it takes whole lines, and
// keeps what is none until the rest comes.
type Log struct {
	path     string
	redactor *redactor

	mu      sync.Mutex
	file    *os.File
	last    []string // ring of keptLines
	next    int
	partial []byte // what Write has of a line
	// hopeless is asked about each line; the first that it knows is sent.
	hopeless func(line string) bool
	omen     chan string
	// dying is asked about each line too, and dread is the first that it knows.
	dying func(line string) bool
	dread string
}

func openLog(name, path string, red *redactor) (*Log, error) {
	if path == "" {
		f, err := os.CreateTemp("", "openloop-"+name+"-"+time.Now().Format("20060102-150405")+"-*.log")
		if err != nil {
			return nil, err
		}
		return &Log{path: f.Name(), redactor: red, file: f, omen: make(chan string, 1)}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Log{path: path, redactor: red, file: f, omen: make(chan string, 1)}, nil
}

// Path is the log's file.
func (l *Log) Path() string { return l.path }

// Tail returns at most n of the last lines, at most 200.
func (l *Log) Tail(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := append(append([]string(nil), l.last[l.next:]...), l.last[:l.next]...)
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return lines
}

// watch has each line from now on shown to hopeless. Nil shows none.
func (l *Log) watch(hopeless func(line string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hopeless = hopeless
}

// attend has each line from now on shown to dying instead. Nil shows none.
func (l *Log) attend(dying func(line string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hopeless, l.dying = nil, dying
}

// Dread is the first line by which the server has said, at work, that it cannot
// go on; empty while there is none.
func (l *Log) Dread() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dread
}

// copyLines writes to w line by line until the pipe ends.
func copyLines(w io.Writer, pipe io.Reader) {
	in := bufio.NewReaderSize(pipe, longestLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			_, _ = w.Write(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// Write implements io.Writer; it never fails.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, b...)
	for {
		end := bytes.IndexByte(l.partial, '\n')
		switch {
		case end >= 0:
			end++
		case len(l.partial) >= longestLine:
			end = longestLine
		default:
			return len(b), nil
		}
		l.add(l.partial[:end])
		l.partial = append(l.partial[:0], l.partial[end:]...)
	}
}

// add keeps one line. The caller holds the lock.
func (l *Log) add(raw []byte) {
	text := l.redactor.text(string(bytes.TrimRight(raw, "\r\n")))
	if l.file != nil {
		_, _ = l.file.WriteString(text + "\n")
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if l.hopeless != nil && l.hopeless(text) {
		select {
		case l.omen <- text:
		default: // not the first
		}
	}
	if l.dying != nil && l.dread == "" && l.dying(text) {
		l.dread = text
	}
	if len(l.last) < keptLines {
		l.last = append(l.last, text)
		return
	}
	l.last[l.next] = text
	l.next = (l.next + 1) % keptLines
}

func (l *Log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if len(l.partial) > 0 {
		l.add(l.partial)
		l.partial = nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
