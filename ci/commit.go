package ci

import (
	"os"
	"path/filepath"
	"strings"
)

// commitVariables are where CI systems put the commit they test.
var commitVariables = []string{
	"GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT", "GIT_COMMIT", "CIRCLE_SHA1",
	"BUILD_SOURCEVERSION", "BITBUCKET_COMMIT", "CODEBUILD_RESOLVED_SOURCE_VERSION",
	"PULL_PULL_SHA", "TRAVIS_COMMIT", "CIRRUS_CHANGE_IN_REPO", "SEMAPHORE_GIT_SHA",
	"APPVEYOR_REPO_COMMIT", "DRONE_COMMIT_SHA",
}

// Commit is the full hash of the commit under test: what the CI system says,
// else HEAD of the git repository that holds dir. Empty is unknown. Changes
// not committed are not seen.
func Commit(dir string) string {
	if Detect() != "" {
		for _, key := range commitVariables {
			if v := os.Getenv(key); isHash(v) {
				return v
			}
		}
	}
	git, ok := gitDir(dir)
	if !ok {
		return ""
	}
	return head(git)
}

// gitDir finds the repository's folder from dir upwards. In a worktree or a
// submodule .git is a file that names it.
func gitDir(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return path, true
			}
			text, err := os.ReadFile(path)
			target, named := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !named {
				return "", false
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return target, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func head(git string) string {
	text, err := os.ReadFile(filepath.Join(git, "HEAD"))
	if err != nil {
		return ""
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	if !symbolic {
		return onlyHash(ref)
	}
	// Branches of a worktree live in the repository it belongs to.
	dirs := []string{git}
	if text, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
		common := strings.TrimSpace(string(text))
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
		dirs = append(dirs, common)
	}
	for _, dir := range dirs {
		if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ref))); err == nil {
			return onlyHash(strings.TrimSpace(string(text)))
		}
		packed, _ := os.ReadFile(filepath.Join(dir, "packed-refs"))
		for line := range strings.Lines(string(packed)) {
			hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name == ref {
				return onlyHash(hash)
			}
		}
	}
	return ""
}

func onlyHash(s string) string {
	if isHash(s) {
		return s
	}
	return ""
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
