package assert_test

import (
	"os"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/regressions"
)

func TestAMissingBaselineFailsWithTheCommand(t *testing.T) {
	for _, row := range []struct {
		name, test string
		before     func(t *testing.T)
		text       string
	}{
		{"in the module's root", "TestDecode", func(*testing.T) {}, `error: no baseline, so nothing was compared
    looked for testdata/openloop/TestDecode/small@84b926a2.bench
    record it  go test . -run '^TestDecode$' -openloop.update
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"a subtest in a package below it", "TestDecode/p50_of_'chat'_(a+b)", func(t *testing.T) {
			if err := os.MkdirAll("internal/perf", 0o777); err != nil {
				t.Fatal(err)
			}
			t.Chdir("internal/perf")
		}, `error: no baseline, so nothing was compared
    looked for testdata/openloop/TestDecode/p50_of_~27chat~27_~28a+b~29/small@84b926a2.bench
    record it  go test ./internal/perf -run '^TestDecode$/^p50_of_.chat._\(a\+b\)$' -openloop.update
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"beside baselines of other hardware and points", "TestDecode", func(t *testing.T) {
			recordBaseline(t, &toy{seed: 1, hardware: "2x toy"}, small, regressions.Gate{})
			other := small
			other.Name = "other"
			recordBaseline(t, &toy{seed: 1}, other, regressions.Gate{})
			write(t, "testdata/openloop/TestDecode/small@00000000.bench", "not ours")
		}, `error: no baseline, so nothing was compared
    looked for testdata/openloop/TestDecode/small@84b926a2.bench
    there is   other@84b926a2.bench, of another point
    there is   small@00000000.bench, which cannot be read
    there is   small@9ae22b69.bench, of other hardware or another engine, which does not compare: engine toy, model m, hardware 2x toy
    record it  go test . -run '^TestDecode$' -openloop.update
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"in CI", "TestDecode", func(t *testing.T) { t.Setenv("GITLAB_CI", "true") }, `error: no baseline, so nothing was compared
    looked for testdata/openloop/TestDecode/small@84b926a2.bench
    record it  go test . -run '^TestDecode$' -openloop.update
    then       commit the file: CI does not write its own baselines
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			afresh(t)
			runs := measured(t, &toy{seed: 1}, small, row.test)
			row.before(t)
			before := files(t)
			var r recorder
			expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), false, row.text)
			if len(files(t)) != len(before) || len(runs.Records) != 3 {
				t.Errorf("files %d → %d, runs %d: nothing must be written or measured", len(before), len(files(t)), len(runs.Records))
			}
		})
	}
}

func TestUpdateTellsCreatingReplacingAndAppendingApart(t *testing.T) {
	afresh(t)
	judge := func() (*recorder, *benchtest.Runs, bool) {
		r := new(recorder)
		runs := measured(t, &toy{seed: 3, slow: 1.1}, small, "TestDecode")
		return r, runs, assert.NoRegression(r, runs, regressions.Gate{Gates: 1})
	}
	t.Setenv("OPENLOOP_CREATE", "1")
	r, runs, ok := judge()
	expect(t, r, ok, true, `log: baseline created: 12 runs, 2 starts; nothing was compared
    file       testdata/openloop/TestDecode/small@84b926a2.bench
    at         poisson 10/s, fixed(20/10), 12 runs of 200 requests
`)
	if len(runs.Records) != 12 {
		t.Errorf("a baseline of %d runs, want 12", len(runs.Records))
	}

	// Create leaves what there is, and judges against it.
	created := files(t)[path]
	r, _, ok = judge()
	if !ok || head(r, 2) != "log: pass:" || files(t)[path] != created {
		t.Errorf("returned %v, the file the same %v, said\n%s", ok, files(t)[path] == created, r.said())
	}

	t.Setenv("OPENLOOP_UPDATE", "1")
	r, _, ok = judge()
	if want := "log: baseline replaced: 12 runs, 2 starts, in place of 12 runs of 2000-01-01; nothing was gated\n    old → new  pass:"; !ok || !strings.HasPrefix(r.said(), want) {
		t.Errorf("returned %v, said\n%s\nwant\n%s", ok, r.said(), want)
	}

	t.Setenv("OPENLOOP_APPEND", "1")
	t.Setenv("OPENLOOP_RUNS", "")
	engine := &toy{seed: 4}
	runs = measured(t, engine, small, "TestDecode")
	for _, record := range runs.Records {
		record.StartID = "another day"
	}
	r = new(recorder)
	expect(t, r, assert.NoRegression(r, runs, regressions.Gate{}), true, `log: baseline appended to: 3 runs, 1 start more, to the 12 runs of 2000-01-01; nothing was compared
    file       testdata/openloop/TestDecode/small@84b926a2.bench
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`)
	b, err := regressions.ReadBaseline(path)
	if err != nil || len(b.Runs) != 15 {
		t.Errorf("%d runs stored, want 15; error %v", len(b.Runs), err)
	}
	r = new(recorder)
	expect(t, r, assert.NoRegression(r, runs, regressions.Gate{}), false, `error: no baseline was written: regressions: start another day is in testdata/openloop/TestDecode/small@84b926a2.bench already: append the runs of another start
`)
}

func TestASmallBaselineIsWarnedOf(t *testing.T) {
	afresh(t)
	t.Setenv("OPENLOOP_UPDATE", "1")
	runs := &benchtest.Runs{Records: measured(t, &toy{seed: 1}, small, "TestDecode").Records}
	var r recorder
	expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), true, `log: baseline created: 3 runs, 1 start; nothing was compared
    warning    a stored baseline wants 5 runs or more, this has 3
    warning    all runs are of one start of the engine, so drift between starts is not measured: append those of another with -openloop.update=append
    file       testdata/openloop/TestDecode/small@84b926a2.bench
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`)
}

func TestWhatMustNotBecomeABaseline(t *testing.T) {
	for _, row := range []struct {
		name   string
		before func(t *testing.T) *benchtest.Runs
		text   string
	}{
		{"runs that cannot be trusted", func(t *testing.T) *benchtest.Runs {
			engine := &toy{seed: 1}
			runs := measured(t, engine, small, "TestDecode")
			engine.failing = engine.passes + 2
			return runs
		}, `error: no baseline was written: invalid: 1 of 4 runs cannot be trusted, so nothing is judged
    run 4      no-data: none of 200 requests of the window succeeded (first failure: server-error: made up)
    run 4      errors: 200 of 200 requests failed (100 %), limit 1 %; first failure: server-error: made up: find out why, or raise Limits.ErrorRate
    at         poisson 10/s, fixed(20/10), 4 runs of 200 requests
`},
		{"a queue that grows", func(t *testing.T) *benchtest.Runs {
			return measured(t, &toy{seed: 1, drown: 0.6}, small, "TestDecode")
		}, `error: no baseline was written: a growing queue is none to compare with: growing: the backlog grows by 2.65 req/s: 10.38 offered, 7.73 served, 34 % over capacity for 19s; z 5.6, above 1.96 (3 runs, 600 arrivals)
    next       offer less, or make the engine faster: past saturation every latency is a function of how long one ran
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"a folder that cannot be written", func(t *testing.T) *benchtest.Runs {
			runs := measured(t, &toy{seed: 1}, small, "TestDecode")
			if err := os.Symlink("nowhere", "testdata"); err != nil {
				t.Skip(err)
			}
			return runs
		}, `error: the baseline's folder cannot be written, so no run was made for it: mkdir testdata: file exists
    next       update on a checkout that can be written, and commit the file
`},
		{"in place of a file that is not ours", func(t *testing.T) *benchtest.Runs {
			runs := measured(t, &toy{seed: 1}, small, "TestDecode")
			write(t, path, "BenchmarkOld 1 2 ns/op\n")
			return runs
		}, `error: the baseline cannot be used, and was left as it is: regressions: testdata/openloop/TestDecode/small@84b926a2.bench is not an openloop baseline: it has no openloop-schema line
    file       testdata/openloop/TestDecode/small@84b926a2.bench
    next       restore it, or move it away and record a new one: go test . -run '^TestDecode$' -openloop.update
    at         poisson 10/s, fixed(20/10), 3 runs of 200 requests
`},
		{"in CI, said once", func(t *testing.T) *benchtest.Runs {
			runs := measured(t, &toy{seed: 1}, small, "TestDecode")
			t.Setenv("GITHUB_ACTIONS", "true")
			return runs
		}, `error: ci: OPENLOOP_UPDATE=1 (or -openloop.update) in CI (GitHub Actions): a job that accepts what it measures gates nothing, so nothing was written; say it twice with OPENLOOP_UPDATE_IN_CI=1, or unset it
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			afresh(t)
			runs := row.before(t)
			before := files(t)
			t.Setenv("OPENLOOP_UPDATE", "1")
			var r recorder
			expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), false, row.text)
			after := files(t)
			if len(after) != len(before) || after[path] != before[path] {
				t.Errorf("files before %v, after %v", before, after)
			}
		})
	}
}

func TestTwoPointsOfOneNameAreNotOneBaseline(t *testing.T) {
	afresh(t)
	recordBaseline(t, &toy{seed: 1}, small, regressions.Gate{})
	other := small
	other.Requests = 300
	t.Setenv("OPENLOOP_UPDATE", "1")
	runs := measured(t, &toy{seed: 1}, other, "TestDecode")
	var r recorder
	expect(t, &r, assert.NoRegression(&r, runs, regressions.Gate{}), false, `error: no baseline was written: two points of TestDecode share the name small, and with it the file
    next       give one of them another Point.Name
`)
}
