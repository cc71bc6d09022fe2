package ci

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	hashA = "0123456789abcdef0123456789abcdef01234567"
	hashB = "fedcba9876543210fedcba9876543210fedcba98"
)

func TestCommitOfARepository(t *testing.T) {
	for _, row := range []struct {
		name  string
		files map[string]string
		dir   string
		want  string
	}{
		{"no repository", nil, ".", ""},
		{"detached head", map[string]string{".git/HEAD": hashA + "\n"}, ".", hashA},
		{"a branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": hashA + "\n"}, ".", hashA},
		{"from a folder below", map[string]string{".git/HEAD": hashA, "a/b/x.go": ""}, "a/b", hashA},
		{"a packed branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n",
			".git/packed-refs": "# pack-refs with: peeled\n" + hashB + " refs/heads/other\n" + hashA + " refs/heads/main\n"}, ".", hashA},
		{"a loose branch beats the packed one", map[string]string{".git/HEAD": "ref: refs/heads/main\n",
			".git/refs/heads/main": hashA, ".git/packed-refs": hashB + " refs/heads/main\n"}, ".", hashA},
		{"a worktree", map[string]string{"main/.git/worktrees/w/HEAD": "ref: refs/heads/w\n", "main/.git/worktrees/w/commondir": "../..\n",
			"main/.git/refs/heads/w": hashA, "w/.git": "gitdir: ../main/.git/worktrees/w\n"}, "w", hashA},
		{"a branch without commits", map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, ".", ""},
		{"a head that is no hash", map[string]string{".git/HEAD": "nonsense"}, ".", ""},
		{"a .git file that names nothing", map[string]string{".git": "nonsense"}, ".", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			unmark(t)
			root := t.TempDir()
			for name, text := range row.files {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			got := Commit(filepath.Join(root, row.dir))
			if row.files == nil && got != "" && len(got) == 40 {
				t.Skip("the temporary folder is inside a repository")
			}
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestInCITheSystemNamesTheCommit(t *testing.T) {
	unmark(t)
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_SHA", hashB)
	if got := Commit(t.TempDir()); got != hashB {
		t.Errorf("got %q, want %q", got, hashB)
	}
	t.Setenv("GITHUB_SHA", strings.Repeat("g", 40))
	if got := onlyHash(os.Getenv("GITHUB_SHA")); got != "" {
		t.Errorf("%q is no hash", got)
	}
}

// unmark makes this process look as if no CI system ran it.
func unmark(t *testing.T) {
	t.Helper()
	t.Setenv("CI", "")
	for _, s := range systems {
		t.Setenv(s.mark, "")
	}
	for _, key := range commitVariables {
		t.Setenv(key, "")
	}
}
