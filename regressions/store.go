package regressions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoBaseline is matched, by errors.Is, by ReadBaseline's error when there
// is no file.
var ErrNoBaseline = errors.New("no baseline")

// ReadBaseline reads a baseline file. A missing file is ErrNoBaseline, with
// the command that records it and the baselines of other hardware and other
// points beside it; a foreign, corrupt or cut-off file, and one of another
// schema, is named with the line.
func ReadBaseline(path string) (*Baseline, error) {
	b, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noBaseline(path)
	}
	return b, err
}

// load is ReadBaseline whose error, where there is no file, is only that. A
// link to nothing is no missing file: what it leads to may come back.
func load(path string) (*Baseline, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, link := os.Readlink(path); link == nil {
			return nil, fmt.Errorf("regressions: reading the baseline: %s is a link to %s, where there is nothing", path, to)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("regressions: reading the baseline: %w", err)
	}
	b, err := parse(data, path)
	if err != nil {
		return nil, fmt.Errorf("regressions: %w", err)
	}
	return b, nil
}

// noBaseline names what there is instead.
func noBaseline(path string) error {
	dir, file := filepath.Split(path)
	point, _, _ := strings.Cut(file, "@")
	var here, other []string
	files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*"+extension))
	for _, f := range files {
		b, err := load(f)
		name := filepath.Base(f)
		switch {
		case err != nil:
			other = append(other, name+" (unreadable)")
		case strings.HasPrefix(name, point+"@"):
			here = append(here, fmt.Sprintf("%s (%s)", name, strings.Join(listed(b), ", ")))
		default:
			other = append(other, name)
		}
	}
	text := fmt.Sprintf(" at %s: record one with %s", filepath.ToSlash(path), updateCommand(testOf(dir)))
	if here != nil {
		text += "; there are baselines of other hardware or engines, which do not compare: " + strings.Join(here, ", ")
	}
	if other != nil {
		text += "; there are baselines of other points of this test: " + strings.Join(other, ", ")
	}
	return fmt.Errorf("regressions: %w%s", ErrNoBaseline, text)
}

// listed is the key of a baseline in words.
func listed(b *Baseline) []string {
	var out []string
	for _, p := range b.Key {
		out = append(out, p.Key+" "+p.Value)
	}
	return out
}

// testOf takes the test's name from the folder of its baselines.
func testOf(dir string) string {
	_, test, _ := strings.Cut(filepath.ToSlash(dir), "testdata/openloop/")
	return strings.Trim(test, "/")
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// WriteBaseline stores a baseline, all or nothing. Without overwrite a file
// that exists is an error; with it, it must be a baseline of the same test,
// point name and key, and is replaced. A file that is not a baseline, is
// corrupt or of another schema is never overwritten. A baseline without runs,
// with runs that have problems, or with values that are no values is refused.
func WriteBaseline(path string, b *Baseline, overwrite bool) error {
	if b == nil {
		return fmt.Errorf("regressions: refusing to store a baseline: there is none")
	}
	data, err := format(b)
	if err != nil {
		return fmt.Errorf("regressions: refusing to store a baseline: %w", err)
	}
	if _, err := parse(data, path); err != nil {
		return fmt.Errorf("regressions: refusing to store a baseline that does not read back: %w", err)
	}
	old, err := ReadBaseline(path)
	exists := !errors.Is(err, ErrNoBaseline)
	switch {
	case exists && err != nil:
		return fmt.Errorf("%w; it is not overwritten: move it away first", err)
	case exists && !overwrite:
		return fmt.Errorf("regressions: %s exists: to replace it, overwrite it or append to it explicitly", path)
	case exists && (old.Test != b.Test || old.PointName != b.PointName || !slices.Equal(old.Key, b.Key)):
		return fmt.Errorf("regressions: %s is the baseline of %s at %s on other hardware or of another test and is not overwritten: move it away first", path, old.Test, old.PointName)
	}
	if err := writeAtomic(path, data, !exists); err != nil {
		return fmt.Errorf("regressions: storing the baseline: %w", err)
	}
	return nil
}

// AppendStart adds the runs of further starts of the engine to the baseline at
// path. They must be of the same point, key, schema, clock and cache state,
// and no start may be there already; starts are numbered on.
func AppendStart(path string, b *Baseline) error {
	if b == nil {
		return fmt.Errorf("regressions: no runs to append to %s", path)
	}
	old, err := ReadBaseline(path)
	if err != nil {
		return err
	}
	if no := alike(old.Arm, b.Arm, against{"baseline", b.accept()}); no != nil {
		return fmt.Errorf("regressions: these runs cannot be appended to %s: %s", path, no.reason)
	}
	if old.SLO != b.SLO {
		return fmt.Errorf("regressions: these runs cannot be appended to %s: their goodput is of another SLO, %q, where the baseline's is of %q", path, b.SLO, old.SLO)
	}
	if old.beside() != b.beside() {
		return fmt.Errorf("regressions: these runs cannot be appended to %s: only one of the two has runs of a control", path)
	}
	if no := frozen(old.Arm, b.Arm); no != nil {
		return fmt.Errorf("regressions: these runs cannot be appended to %s: %s", path, no.reason)
	}
	next := 0
	known := map[string]bool{}
	for _, r := range old.Runs {
		next = max(next, r.Start+1)
		known[r.StartID] = r.StartID != ""
	}
	joined := *old
	joined.Runs = slices.Clone(old.Runs)
	numbers := map[string]int{}
	for _, r := range b.Runs {
		if known[r.StartID] {
			return fmt.Errorf("regressions: start %s is in %s already: append the runs of another start", r.StartID, path)
		}
		if _, ok := numbers[r.start()]; !ok {
			numbers[r.start()] = next + len(numbers)
		}
		r.Start = numbers[r.start()]
		joined.Runs = append(joined.Runs, r)
	}
	return WriteBaseline(path, &joined, true)
}

// writeAtomic writes beside the file and renames, so that a reader sees the
// old or the new one whole. create fails when the file has appeared meanwhile.
func writeAtomic(path string, data []byte, create bool) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the link itself stays
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".baseline-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
		os.Remove(f.Name())
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if create {
		// A link fails where a rename would silently replace.
		err := os.Link(f.Name(), path)
		if err == nil {
			return syncDir(dir)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s has appeared meanwhile, from another process: read it first", path)
		}
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the new name durable where folders can be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}
