package regressions

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// extension is that of baseline files.
const extension = ".bench"

// BaselinePath is the file of a baseline: dir/test/point@key.bench, with the
// test's slashes kept as folders and the key as eight hexadecimal digits of
// its hash. Bytes that some file system does not take are written "~" and two
// hexadecimal digits, so different names never share a file.
func BaselinePath(dir, test, point string, key []metric.Pair) string {
	elems := []string{dir}
	for s := range strings.SplitSeq(test, "/") {
		if s != "" {
			elems = append(elems, safe(s))
		}
	}
	return filepath.Join(append(elems, safe(point)+"@"+shortKey(key)+extension)...)
}

// shortKey is the key in file names.
func shortKey(key []metric.Pair) string {
	if h := metric.Hash(key); h != "" {
		return h[:8]
	}
	return "none"
}

// safe makes a name that is one element of a path on any file system.
func safe(name string) string {
	s := escape(name, func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._-=+,", c) >= 0
	})
	if s == "" {
		return "~"
	}
	// Names that are special to some system: ".", "..", hidden files, a dot
	// at the end, and devices.
	stem, _, _ := strings.Cut(strings.ToUpper(s), ".")
	if s[0] == '.' || slices.Contains(devices, stem) {
		s = hex(s[0]) + s[1:]
	}
	if last := s[len(s)-1]; last == '.' {
		s = s[:len(s)-1] + hex(last)
	}
	if len(s) > 120 {
		s = s[:100] + "~~" + metric.Hash([]metric.Pair{{Key: name}})
	}
	return s
}

var devices = []string{
	"CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9",
	"LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
}

func hex(c byte) string { return fmt.Sprintf("~%02x", c) }

// escape writes the bytes that are not kept, and "~", in hexadecimal.
func escape(s string, keep func(byte) bool) string {
	var b strings.Builder
	for i := range len(s) {
		if keep(s[i]) && s[i] != '~' {
			b.WriteByte(s[i])
		} else {
			b.WriteString(hex(s[i]))
		}
	}
	return b.String()
}

// unescape undoes escape; what escape did not write stays.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '~' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// CountBaselines counts the baselines of the module that dir is in, for
// Gate.Gates: all files below a testdata/openloop of it that have a baseline's
// extension. Other modules inside it do not count. A dir outside any module is
// an error.
func CountBaselines(dir string) (int, error) {
	root, err := moduleRoot(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && skipped(path, d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(path) == extension && strings.Contains(filepath.ToSlash(path), "/testdata/openloop/"):
			n++
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("regressions: counting baselines below %s: %w", root, err)
	}
	return n, nil
}

func skipped(path, name string) bool {
	if name == "vendor" || name == "node_modules" || strings.HasPrefix(name, ".") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func moduleRoot(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("regressions: %w", err)
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("regressions: %s is in no Go module: declare Gate.Gates", abs)
		}
	}
}
