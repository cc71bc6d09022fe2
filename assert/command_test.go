package assert

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestTheCommandRaisesATimeoutThatIsTooShort(t *testing.T) {
	drains := []metric.Pair{{Key: "drain", Value: "1m0s"}}
	for _, row := range []struct {
		name   string
		closed time.Duration
		record metric.Record
		want   string
	}{
		{"twelve short runs fit into go test's ten minutes", 20 * time.Second, metric.Record{}, "go test . -run '^TestA$' -openloop.update"},
		{"twelve runs of a minute, half as much again for the rest", time.Minute, metric.Record{}, "go test . -run '^TestA$' -timeout 20m -openloop.update"},
		{"and a drain of a minute, which the plan holds", time.Minute, metric.Record{Point: drains}, "go test . -run '^TestA$' -timeout 40m -openloop.update"},
		{"short ones of a drain of a minute", 20 * time.Second, metric.Record{Point: drains}, "go test . -run '^TestA$' -timeout 20m -openloop.update"},
		{"of a closed loop, whose plan holds no drain", time.Minute, metric.Record{Point: drains, InFlight: 1}, "go test . -run '^TestA$' -timeout 20m -openloop.update"},
		{"of five minutes", 5 * time.Minute, metric.Record{}, "go test . -run '^TestA$' -timeout 100m -openloop.update"},
		{"in virtual time no timeout matters", time.Hour, metric.Record{Virtual: true}, "go test . -run '^TestA$' -openloop.update"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			row.record.Requests = []metric.Timeline{{Closed: time.Second}, {Closed: row.closed}}
			if got := updateCommand("TestA", []*metric.Record{&row.record}); strings.Replace(got, " -tags="+buildTags(), "", 1) != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// The printed command must run the one test and no other.
func FuzzPattern(f *testing.F) {
	for _, name := range []string{"TestA", "TestA/b_c", "Test/p50_of_'chat'_(a+b)", "TestÄ/[x]/#01", "TestA/a$b^c.d*"} {
		f.Add(name, name+"x")
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		if !utf8.ValidString(name) || strings.ContainsAny(name, "\n'") || strings.ContainsAny(other, "\n'") {
			t.Skip("no test has such a name")
		}
		levels, theirs := strings.Split(name, "/"), strings.Split(other, "/")
		for i, level := range levels {
			re := regexp.MustCompile(pattern(level))
			if !re.MatchString(levels[i]) {
				t.Errorf("%s does not match %q", re, levels[i])
			}
			if i < len(theirs) && theirs[i] != levels[i] && re.MatchString(theirs[i]) {
				t.Errorf("%s matches %q too, not only %q", re, theirs[i], levels[i])
			}
		}
		if strings.Contains(pattern(name), "'") {
			t.Errorf("%s ends the shell's word", pattern(name))
		}
	})
}
