package openloop_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCode holds the README to what runs: its Go code is a part of the
// quickstart, or of the example of a shared engine, to the letter.
func TestReadmeCode(t *testing.T) {
	readme := read(t, "README.md")
	code := collapse(read(t, "examples/quickstart/quickstart_test.go")) + collapse(read(t, "fixtures/example_shared_test.go"))
	blocks := fenced(readme, "go")
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go code")
	}
	for _, block := range blocks {
		for _, part := range strings.Split(strings.TrimSpace(block), "\n\n") {
			part = strings.TrimPrefix(part, "var ") // it stands in a group there
			if !strings.Contains(code, collapse(part)) {
				t.Errorf("this code of README.md is in none of the examples:\n%s", part)
			}
		}
	}
}

// TestReadmeOutput runs the quickstart as README.md says: its table of loads is
// the one that the quickstart prints, and the failure it shows is the one that
// a slowdown brings.
func TestReadmeOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the quickstart; -short is set")
	}
	shown := fenced(read(t, "README.md"), "")
	if len(shown) != 2 {
		t.Fatalf("README.md shows %d outputs, want the failure and the table of loads", len(shown))
	}
	for i, run := range []struct{ test, slowdown string }{
		{"^TestDecodeDidNotSlowDown$", "1.10"},
		{"^TestWhatEachLoadSees$", ""},
	} {
		command := exec.Command("go", "test", "-count=1", "-run", run.test, "./examples/quickstart")
		if run.slowdown == "" {
			command.Args = append(command.Args, "-v") // a test that passes is silent without
		}
		command.Env = append(os.Environ(), "QUICKSTART_DECODE_SLOWDOWN="+run.slowdown)
		printed, err := command.CombinedOutput()
		if failed := err != nil; failed != (run.slowdown != "") {
			t.Errorf("%v: %v\n%s", command.Args, err, printed)
		}
		if want := collapse(shown[i]); !strings.Contains(collapse(string(printed)), want) {
			t.Errorf("README.md shows\n%s\nand %v prints\n%s", shown[i], command.Args, printed)
		}
	}
}

// fenced returns the blocks of text fenced with ``` and the language.
func fenced(text, language string) []string {
	var blocks []string
	for _, match := range regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$").FindAllStringSubmatch(text, -1) {
		if match[1] == language {
			blocks = append(blocks, match[2])
		}
	}
	return blocks
}

// collapse makes white space a single space, and drops what differs from one
// run of go test to the next.
func collapse(text string) string {
	text = regexp.MustCompile(`\(\d+\.\d+s\)`).ReplaceAllString(text, "")
	return strings.Join(strings.Fields(text), " ")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
