package openloop_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os/exec"
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
	{from: "engines/launch", not: []string{"./...", "os/exec", "testing/..."}, but: []string{"./engines/launch", "./internal/secret"}},
	{from: "engines/internal/flush", not: []string{"./...", "os/...", "testing/..."}, but: []string{"./engines"}},
	{from: "engines/internal/proxyenv", not: []string{"./...", "net/http/...", "testing/..."}},
	{from: "internal/descriptors", not: []string{"./...", "net/...", "testing/..."}},
	{from: "internal/secret", not: []string{"./...", "os/...", "net/http/...", "testing/..."}},
	{from: "engines/internal/owners", not: []string{"./...", "os/...", "net/...", "testing/..."}, but: []string{"./engines/internal/owners"}},
	{from: "benchtest", not: []string{"./engines/...", "./fixtures/...", "./assert/...", "./regressions/...", "./examples/...", "./ci/...", "net/http/..."}, but: []string{"./engines", "./ci"}},
	{from: "benchtest/arrival", not: []string{"./...", "os/...", "net/...", "testing/...", "io/ioutil"}, but: []string{"./benchtest/arrival"}},
	{from: "benchtest/metric", not: []string{"./...", "os/...", "net/...", "testing/..."}, but: []string{"./benchtest/metric"}},
	{from: "benchtest/steady", not: []string{"./...", "os/...", "net/...", "testing/..."}, but: []string{"./benchtest/steady", "./benchtest/metric"}},
	{from: "fixtures/...", not: []string{"./benchtest/...", "./assert/...", "./regressions/...", "./ci/...", "testing/...", "net/..."}},
	{from: "regressions", not: []string{"./benchtest/...", "./engines/...", "./assert/...", "./fixtures/...", "testing/..."}, but: []string{"./benchtest/metric"}},
	{from: "regressions/stat", not: []string{"./...", "os/...", "testing/...", "time", "net/..."}, but: []string{"./regressions/stat"}},
	{from: "assert/...", not: []string{"./engines/...", "./fixtures/...", "./examples/..."}, but: []string{"./engines"}},
	{from: "internal/nullserver", not: []string{"./...", "testing/..."}, but: []string{"./engines"}},
	{from: "ci", not: []string{"./..."}, but: []string{"./ci"}},
}

// docker holds the one package that may build Docker's client, so that those
// who start processes or attach to a URL need not.
const docker = "engines/container"

// dockers are the modules of Docker's client.
var dockers = []string{"github.com/testcontainers/...", "github.com/moby/...", "github.com/docker/...", "github.com/containerd/..."}

// TestImportArrows fails on an import that the table above forbids, whatever
// its build tags. Test files are free.
func TestImportArrows(t *testing.T) {
	direct := imports(t)
	reached := closure(direct)
	seen := map[string]bool{}
	for pkg := range direct {
		for _, imp := range reached[pkg] {
			if imp == "./"+docker && !matches(pkg, "examples/...") {
				t.Errorf("%s must not import %s: users choose it", pkg, imp)
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

// TestDockersClientIsBuiltForContainersOnly asks the go command what it would
// build for the users of each package.
func TestDockersClientIsBuiltForContainersOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("lists the whole module; -short is set")
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	built := 0
	for line := range strings.Lines(string(out)) {
		pkg, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pkg == module+"/"+docker {
			built++
		}
		for dep := range strings.FieldsSeq(deps) {
			if pkg == module+"/"+docker || strings.Contains(" "+deps+" ", " "+module+"/"+docker+" ") {
				break
			}
			if slices.ContainsFunc(dockers, func(pattern string) bool { return matches(dep, pattern) }) {
				t.Errorf("%s builds %s, which only %s may", pkg, dep, docker)
			}
		}
	}
	if built != 1 {
		t.Errorf("%s was listed %d times", docker, built)
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
		found := out[pkg] // none is an entry too
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rest, ok := strings.CutPrefix(imp, module); ok {
				imp = "." + rest
			}
			found = append(found, imp)
		}
		out[pkg] = found
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
