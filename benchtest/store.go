package benchtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// defaultDir is where a test's files go, below the package's own folder.
const defaultDir = "testdata/openloop"

// store keeps the records of a measurement on disk. Nil keeps none.
type store struct {
	path string
	// replaced is the file of the runs that were made again; there is none until
	// one was.
	replaced string
}

// begun are the files that this process has begun, so that a second
// measurement at a point appends to what the first has written.
var begun struct {
	sync.Mutex
	files map[string]bool
}

// openStore prepares the records file of a test's point below dir, where it is
// not empty. It fails now, before any load, where the file could not be
// written later. What an earlier process left becomes <point>.previous.jsonl.
func openStore(dir, test, point string) (*store, error) {
	return openRecords(dir, test, fileName(point))
}

// openRecords is openStore of a file whose name is safe, without its ending.
func openRecords(dir, test, name string) (*store, error) {
	if dir == "" {
		return nil, nil
	}
	records := filepath.Join(dir, "records")
	folder := records
	for part := range strings.SplitSeq(test, "/") {
		folder = filepath.Join(folder, fileName(part))
	}
	s := &store{path: filepath.Join(folder, name+".jsonl"), replaced: filepath.Join(folder, name+"@replaced.jsonl")}
	if err := s.prepare(records, folder); err != nil {
		return nil, fmt.Errorf("benchtest: records cannot be written: %w: make %s writable, or set OPENLOOP_ARTIFACTS to a folder that is", err, dir)
	}
	return s, nil
}

func (s *store) prepare(records, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	// Records are large and of this machine; baselines are what is committed.
	ignore := filepath.Join(records, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o666); err != nil {
			return err
		}
	}
	absolute, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	begun.Lock()
	defer begun.Unlock()
	if begun.files == nil {
		begun.files = map[string]bool{}
	}
	if !begun.files[absolute] {
		for _, path := range []string{s.path, s.replaced} {
			if err := keepPrevious(path); err != nil {
				return err
			}
		}
	}
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	begun.files[absolute] = true
	left, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil || left.Size() > 0 {
		return err
	}
	// It was made to see that it can be: a measurement without a run leaves none.
	return os.Remove(s.path)
}

// keepPrevious makes room for a file where an earlier process has left one. One
// without a run in it, of a measurement that was called off, must not push out
// one that has some.
func keepPrevious(path string) error {
	left, err := os.Stat(path)
	if err != nil || left.Size() == 0 {
		return nil
	}
	err = os.Rename(path, strings.TrimSuffix(path, ".jsonl")+".previous.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// append writes one record and has it on the disk before it returns.
func (s *store) append(r *metric.Record) error {
	if s == nil {
		return nil
	}
	return appendRecord(s.path, r)
}

// appendReplaced is append for a run that is made again.
func (s *store) appendReplaced(r *metric.Record) error {
	if s == nil {
		return nil
	}
	return appendRecord(s.replaced, r)
}

func appendRecord(path string, r *metric.Record) error {
	r.Summarise() // once, and not for runs that nobody keeps
	var line bytes.Buffer
	if err := metric.WriteRecords(&line, r); err != nil {
		return fmt.Errorf("benchtest: write record: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("benchtest: write record: %w", err)
	}
	_, err = f.Write(line.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("benchtest: write record: %w", err)
	}
	return nil
}

// fileName makes a part of a path of any text, safe on every system.
func fileName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if strings.ContainsRune(nameBytes, r) {
			return r
		}
		return '-'
	}, s)
	if strings.Trim(safe, ".") == "" && safe != "" {
		return strings.Repeat("-", len(safe))
	}
	if len(safe) > 120 {
		// Systems allow 255 bytes and some programs less.
		return fmt.Sprintf("%s-%016x", safe[:100], derive(s))
	}
	return safe
}

// neverCached keeps go test from serving this test's result from its cache.
//
// The go command saves no result of a test that opened a file of its module
// that is less than two seconds old when the test ends. A test that measures
// opens one whose time is a day ahead, so that it stays too young however
// long the test goes on. It is below testdata also when the records are not,
// because files outside of the module do not count; where testdata cannot be
// written the result may be cached, and -count=1 is needed.
func neverCached() {
	folder := filepath.Join(defaultDir, "records")
	if os.MkdirAll(folder, 0o777) != nil {
		return
	}
	marker := filepath.Join(folder, ".never-cached")
	if os.WriteFile(marker, []byte("a measurement opens this file so that go test does not cache its result\n"), 0o666) != nil {
		return
	}
	info, err := os.Stat(marker)
	if err != nil {
		return
	}
	// Now is the file's own time, because the clock may be virtual.
	ahead := info.ModTime().Add(24 * time.Hour)
	_ = os.Chtimes(marker, ahead, ahead)
	if f, err := os.Open(marker); err == nil {
		f.Close()
	}
}

// Load reads the runs of a records file, such as Measure leaves below
// testdata/openloop/records. They can be judged and cannot be extended. An
// error names the file, and the line where it is one's fault.
func Load(path string) (*Runs, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("benchtest: load records: %w", err)
	}
	defer f.Close()
	records, err := metric.ReadRecords(f)
	if err != nil {
		return nil, fmt.Errorf("benchtest: load records from %s: %w", path, err)
	}
	return &Runs{Records: records}, nil
}
