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

// Log is the output of a child: a file and its last lines. Secrets are removed
// before anything is kept.
type Log struct {
	path     string
	redactor *redactor

	mu   sync.Mutex
	file *os.File
	last []string // ring of keptLines
	next int
}

func openLog(name, path string, red *redactor) (*Log, error) {
	if path == "" {
		f, err := os.CreateTemp("", "openloop-"+name+"-"+time.Now().Format("20060102-150405")+"-*.log")
		if err != nil {
			return nil, err
		}
		return &Log{path: f.Name(), redactor: red, file: f}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Log{path: path, redactor: red, file: f}, nil
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

// copyFrom keeps lines until the pipe ends.
func (l *Log) copyFrom(r io.Reader) {
	in := bufio.NewReaderSize(r, longestLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			l.add(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (l *Log) add(raw []byte) {
	text := l.redactor.text(string(bytes.TrimRight(raw, "\r\n")))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_, _ = l.file.WriteString(text + "\n")
	}
	if strings.TrimSpace(text) == "" {
		return
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
	err := l.file.Close()
	l.file = nil
	return err
}
