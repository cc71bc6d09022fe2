package openloop_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/openloop-go/openloop"

// forbidden says what each package must not import, as paths or as patterns
// that end in "/..." (the package and all below it). Paths without a dot in
// their first element are the standard library's and are checked directly;
// ours are checked through any number of steps.
var forbidden = []struct {
	from string
	not  []string
	// but are the exceptions.
	but []string
}{
	{from: "engines", not: []string{"./...", "net/...", "os/...", "testing/..."}},
	{from: "engines/...", not: []string{"./benchtest/...", "./assert/...", "./regressions/...", "./fixtures/...", "./examples/...", "./ci/..."}, but: []string{"./ci"}},
	{from: "benchtest", not: []string{"./engines/...", "./fixtures/...", "./assert/...", "./regressions/...", "./examples/...", "./ci/...", "net/http/..."}, but: []string{"./engines", "./ci"}},
	{from: "benchtest/arrival", not: []string{"./...", "os/...", "net/...", "testing/...", "io/ioutil"}, but: []string{"./benchtest/arrival"}},
	{from: "benchtest/metric", not: []string{"./...", "os/...", "net/...", "testing/..."}, but: []string{"./benchtest/metric"}},
	{from: "benchtest/steady", not: []string{"./...", "os/...", "net/...", "testing/..."}, but: []string{"./benchtest/steady", "./benchtest/metric"}},
	{from: "fixtures/...", not: []string{"./benchtest/...", "./assert/...", "./regressions/...", "./ci/...", "testing/...", "net/..."}},
	{from: "regressions", not: []string{"./benchtest/...", "./engines/...", "./assert/...", "./fixtures/...", "testing/..."}, but: []string{"./benchtest/metric"}},
	{from: "regressions/stat", not: []string{"./...", "os/...", "testing/...", "time", "net/..."}, but: []string{"./regressions/stat"}},
	{from: "assert/...", not: []string{"./engines/...", "./fixtures/...", "./examples/..."}, but: []string{"./engines"}},
	{from: "ci", not: []string{"./..."}, but: []string{"./ci"}},
}

// docker holds the one package that may build Docker's client, so that those
// who attach to a URL need not.
const docker = "engines/container"

// TestImportArrows fails on an import that the table above forbids, whatever
// its build tags. Test files are free.
func TestImportArrows(t *testing.T) {
	direct := imports(t)
	reached := closure(direct)
	seen := map[string]bool{}
	for pkg := range direct {
		for _, imp := range reached[pkg] {
			if pkg != docker && matches(imp, "github.com/testcontainers/...") {
				t.Errorf("%s must not import %s: only %s may", pkg, imp, docker)
			}
		}
	}
	for _, rule := range forbidden {
		for pkg := range direct {
			if !matches(pkg, rule.from) {
				continue
			}
			seen[rule.from] = true
			for _, imp := range slices.Concat(direct[pkg], reached[pkg]) {
				if imp == "./"+pkg || slices.Contains(rule.but, imp) {
					continue
				}
				for _, not := range rule.not {
					if matches(imp, not) {
						t.Errorf("%s must not import %s (rule: never %s)", pkg, imp, not)
					}
				}
			}
		}
		if !seen[rule.from] {
			t.Errorf("the rule for %s met no package: the table or the tree is out of date", rule.from)
		}
	}
}

// matches reports whether pkg is pattern, or below it where the pattern ends
// in "/...".
func matches(pkg, pattern string) bool {
	base, below := strings.CutSuffix(pattern, "/...")
	if pkg == base {
		return true
	}
	return below && strings.HasPrefix(pkg, base+"/")
}

// imports maps each package of the module, by its path below the module, to
// what its non-test files import; our own packages are written "./path".
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || (name != "." && strings.HasPrefix(d.Name(), "."))) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(name))
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rest, ok := strings.CutPrefix(imp, module); ok {
				imp = "." + rest
			}
			out[pkg] = append(out[pkg], imp)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// closure maps each package to all that it reaches outside the standard
// library.
func closure(direct map[string][]string) map[string][]string {
	out := map[string][]string{}
	for pkg := range direct {
		reached := map[string]bool{}
		var visit func(string)
		visit = func(p string) {
			for _, imp := range direct[p] {
				if first, _, _ := strings.Cut(imp, "/"); reached[imp] || !strings.Contains(first, ".") {
					continue
				}
				reached[imp] = true
				visit(strings.TrimPrefix(imp, "./"))
			}
		}
		visit(pkg)
		out[pkg] = slices.Collect(maps.Keys(reached))
	}
	return out
}
