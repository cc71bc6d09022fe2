package regressions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edits are what may have happened to a file, each with how it is refused.
var edits = []struct {
	name   string
	change func(string) string
	want   string
}{
	{"empty", func(string) string { return "" }, "is empty"},
	{"blank", func(string) string { return "\n\n" }, "is empty"},
	{"benchstat input that is not ours", func(string) string { return "goos: linux\nBenchmarkX 1 5 ns/op\n" }, "is not an openloop baseline: it has no openloop-schema line"},
	{"JSON", func(string) string { return `{"schema": 1}` }, "is not an openloop baseline"},
	{"older schema", replace("openloop-schema: 1", "openloop-schema: 0"), "older baseline schema 0, this reads 1: record it again"},
	{"newer schema", replace("openloop-schema: 1", "openloop-schema: 2"), "newer baseline schema 2, this reads 1: update openloop"},
	{"schema in words", replace("openloop-schema: 1", "openloop-schema: one"), `:3: corrupt baseline: openloop-schema is "one"`},
	{"other formulas", replace("metric-schema: ", "metric-schema: 9"), "this openloop's formulas are of"},
	{"cut off", func(s string) string { return s[:len(s)*2/3] }, ""},
	{"without its end", func(s string) string { return s[:strings.Index(s, "# openloop end")] }, "is cut off: its last line, # openloop end, is missing"},
	{"a value edited", value("0.0069"), "corrupt baseline: it was edited after it was written, or damaged: its sum is not the one on this line"},
	{"a metric taken out", func(s string) string {
		i := strings.Index(s, " p50-tpot-sec 0")
		j := strings.LastIndex(s[:i], " ")
		return s[:j] + s[i+len(" p50-tpot-sec"):]
	}, "it was edited after it was written"},
	{"more than all requests failed", replace(" 0 error-rate", " 7 error-rate"), "error-rate is 7, a share is at most 1"},
	{"a key twice", replace("metric-schema: ", "openloop-schema: 9\nmetric-schema: "), "openloop-schema is given again, or after the first run: all runs share it"},
	{"a key that changes on the way", replace("\n# openloop run index=2", "\nclock: virtual\n# openloop run index=2"), "clock is given again, or after the first run"},
	{"a run taken out", func(s string) string {
		i, j := strings.Index(s, "\n# openloop run index=1"), strings.Index(s, "\n# openloop run index=2")
		return s[:i] + s[j:]
	}, "corrupt baseline: it has 3 runs, its end says 4"},
	{"two files in one", func(s string) string { return s + s }, "there are lines after its end"},
	{"a stray line", replace("\nUnit ", "\nhello\nUnit "), `this is no line of a baseline: "hello"`},
	{"NaN", value("NaN"), "p50-tpot-sec is NaN, must be finite"},
	{"infinite", value("+Inf"), "p50-tpot-sec is +Inf, must be finite"},
	{"beyond a float", value("1e999"), "value out of range"},
	{"negative", value("-0.4"), "p50-tpot-sec is -0.4, must be positive"},
	{"zero", value("0"), "p50-tpot-sec is 0, must be positive"},
	{"no number", value("fast"), "corrupt baseline: parsing measurement"},
	{"milliseconds", replace(" p50-tpot-sec 0", " p50-tpot-ms 0"), `unknown metric or unit "p50-tpot-ms"`},
	{"nanoseconds, which readers convert", replace(" p50-tpot-sec 0", " p50-tpot-ns 0"), "unit mismatch: p50-tpot-ns, want p50-tpot-sec"},
	{"a direction turned", replace("Unit p50-tpot-sec better=lower", "Unit p50-tpot-sec better=higher"), "unit mismatch: p50-tpot-sec better=higher"},
	{"a metric twice", replace(" p50-tpot-sec 0", " p50-ttft-sec 0"), "p50-ttft-sec is there twice"},
	{"several iterations", replace("poisson=4 1 ", "poisson=4 7 "), "7 iterations, a line is one run"},
	{"a run without its facts", replace("# openloop run index=1", "# run index=1"), "no # openloop run line precedes it"},
	{"facts without a run", replace("\n\n# openloop missing", "\n\n# openloop run index=7 seed=1 start=0\n\n# openloop missing"), "no benchmark line follows it"},
	{"a fact that is none", replace("index=1 ", "index=one "), `index is "one", must be a number`},
	{"a time that is none", replace("time=2026-11-20T09:31:00Z", "time=yesterday"), `time is "yesterday"`},
	{"an unknown comment of ours", replace("# openloop end", "# openloop coda\n# openloop end"), `unknown line "coda"`},
	{"an unknown key", replace("clock: real", "clock: broken"), `clock: is unknown or has an unknown value "broken"`},
	{"missing of a run that is not there", replace("runs=0-3", "runs=0-9"), "does not increase from 0 to at most 3"},
	{"missing what is there", replace("metric=p99-ttft-sec", "metric=p50-ttft-sec"), "run 0 has p50-ttft-sec already"},
	{"the same run twice", replace("run index=3", "run index=2"), "run 2 of start 1 is in it twice"},
	{"an endless line", func(s string) string { return s + "# " + strings.Repeat("x", 70_000) }, "it has 70002 bytes, at most 60000 are read"},
}

// value puts another in the place of the first TPOT.
func value(v string) func(string) string {
	return func(s string) string {
		i := strings.Index(s, " p50-tpot-sec 0")
		j := strings.LastIndex(s[:i], " ")
		return s[:j] + " " + v + s[i:]
	}
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

// A file that is not a baseline of this schema is refused by name, and never
// overwritten.
func TestUnusableBaselines(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.bench")
	require.NoError(t, regressions.WriteBaseline(good, full(), false))
	data, err := os.ReadFile(good)
	require.NoError(t, err)
	for _, e := range edits {
		path := filepath.Join(t.TempDir(), "edited.bench")
		edited := e.change(string(data))
		require.NotEqual(t, string(data), edited, "%s: the edit must change something", e.name)
		require.NoError(t, os.WriteFile(path, []byte(edited), 0o666))
		_, err := regressions.ReadBaseline(path)
		require.Error(t, err, e.name)
		assert.NotErrorIs(t, err, regressions.ErrNoBaseline, e.name)
		assert.ErrorContains(t, err, path, e.name)
		assert.ErrorContains(t, err, e.want, e.name)

		for _, overwrite := range []bool{false, true} {
			err = regressions.WriteBaseline(path, full(), overwrite)
			assert.ErrorContains(t, err, "it is not overwritten: move it away first", e.name)
		}
		assert.Error(t, regressions.AppendStart(path, full()), e.name)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, edited, string(after), "%s: untouched", e.name)
	}
}
