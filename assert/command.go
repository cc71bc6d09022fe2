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
	"github.com/openloop-go/openloop/regressions"
)

// missing words the lack of a baseline, with the others that there are: what
// was meant may be there under another name.
func (g *gating) missing() report {
	bad := reportf("no baseline, so nothing was compared")
	bad.add("looked for", "%s", filepath.ToSlash(g.path))
	for _, other := range beside(g.path) {
		bad.add("there is", "%s", other)
	}
	bad.add("record it", "%s", updateCommand(g.test, g.runs.Records))
	if g.config.CI {
		bad.add("then", "commit the file: CI does not write its own baselines")
	}
	bad.at = at(g.runs.Records)
	return bad
}

// beside lists the baselines in the folder of one that is missing: of other
// hardware where the name of the point is the same, else of other points.
func beside(path string) []string {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // there is not even the folder
	}
	point, _, _ := strings.Cut(filepath.Base(path), "@")
	var out []string
	for _, f := range files {
		if filepath.Ext(f.Name()) != filepath.Ext(path) {
			continue
		}
		b, err := regressions.ReadBaseline(filepath.Join(filepath.Dir(path), f.Name()))
		switch name, _, _ := strings.Cut(f.Name(), "@"); {
		case err != nil:
			out = append(out, f.Name()+", which cannot be read")
		case name == point:
			out = append(out, fmt.Sprintf("%s, of other hardware or another engine, which does not compare: %s", f.Name(), keyed(b)))
		default:
			out = append(out, f.Name()+", of another point")
		}
	}
	return out
}

// keyed is a baseline's key in words.
func keyed(b *regressions.Baseline) string {
	var parts []string
	for _, p := range b.Key {
		parts = append(parts, p.Key+" "+p.Value)
	}
	return strings.Join(parts, ", ")
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
// zero where its default of ten is enough. It must hold the plan, which a
// measurement refuses where it does not fit, and so a whole drain for each run
// of an open loop.
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
	drain, err := time.ParseDuration(pair(records[0], "drain"))
	if err != nil || closed(records[0]) {
		drain = 0
	}
	// Half as much again for warmup, flush and the starts.
	runs := ci.Config{Update: true}.BaselineRuns(len(records))
	need := (longest*3/2+drain)*time.Duration(runs) + time.Minute
	const ten = 10 * time.Minute
	if need < ten*8/10 {
		return 0
	}
	return (need/ten + 1) * ten
}
