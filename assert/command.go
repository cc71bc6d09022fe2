package assert

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/ci"
)

// missing words the lack of a baseline; err says where one was looked for and
// which others there are.
func (g *gating) missing(err error) report {
	bad := reportf("no baseline, so nothing was compared: %v", err)
	bad.add("looked for", "%s", filepath.ToSlash(g.path))
	bad.add("record it", "%s", updateCommand(g.test, g.runs.Records))
	if g.config.CI {
		bad.add("then", "commit the file: %s does not write its own baselines", g.config.System)
	}
	bad.at = at(g.runs.Records)
	return bad
}

// unreadable words a baseline that is there but cannot be used. It is never
// overwritten, in update mode neither: it may be somebody's work.
func (g *gating) unreadable(err error) report {
	bad := reportf("the baseline cannot be used, and was left as it is: %v", err)
	bad.add("file", "%s", filepath.ToSlash(g.path))
	bad.add("next", "restore it, or move it away and record a new one: %s", updateCommand(g.test, g.runs.Records))
	bad.at = at(g.runs.Records)
	return bad
}

// updateCommand is the command line that records the baseline of one test, to
// be run in the module's root.
func updateCommand(test string, records []*metric.Record) string {
	parts := []string{"go test"}
	if tags := buildTags(); tags != "" {
		parts = append(parts, "-tags="+tags)
	}
	parts = append(parts, packagePath(), "-run '"+pattern(test)+"'")
	if limit := timeout(records); limit > 0 {
		parts = append(parts, fmt.Sprintf("-timeout %dm", int(limit.Minutes())))
	}
	parts = append(parts, "-"+ci.UpdateFlag)
	return strings.Join(parts, " ")
}

func buildTags() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}

// packagePath is the package under test, which go test runs in its folder, as
// seen from the module's root.
func packagePath() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, dir)
			if err != nil || rel == "." {
				return "."
			}
			return "./" + filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return "."
		}
	}
}

// pattern matches one test and no other. A quote would end the shell's word.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(p), "'", ".") + "$"
	}
	return strings.Join(parts, "/")
}

// timeout is what go test needs for a baseline's runs, in tens of minutes;
// zero where its default of ten is enough.
func timeout(records []*metric.Record) time.Duration {
	if records[0].Virtual {
		return 0
	}
	var longest time.Duration
	for _, r := range records {
		for i := range r.Requests {
			longest = max(longest, r.Requests[i].Closed)
		}
	}
	// Half as much again for warmup, flush and the starts.
	need := longest * baselineRuns * 3 / 2
	const ten = 10 * time.Minute
	if need < ten*8/10 {
		return 0
	}
	return (need/ten + 1) * ten
}
