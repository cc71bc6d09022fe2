package ci

import (
	"flag"
	"testing"
)

func TestOnlyOneUpdates(t *testing.T) {
	const bad = `only "1" is on, and "0", "false" or nothing is off; set it to 1 or unset it`
	for _, row := range []struct {
		name, value string
		update      bool
		err         string
	}{
		{"one", "1", true, ""},
		{"zero", "0", false, ""},
		{"false", "false", false, ""},
		{"empty", "", false, ""},
		{"true is not one", "true", false, `ci: OPENLOOP_UPDATE is "true": ` + bad},
		{"yes", "yes", false, `ci: OPENLOOP_UPDATE is "yes": ` + bad},
		{"no", "no", false, `ci: OPENLOOP_UPDATE is "no": ` + bad},
		{"a one with a space", " 1", false, `ci: OPENLOOP_UPDATE is " 1": ` + bad},
		{"t, which strconv takes", "t", false, `ci: OPENLOOP_UPDATE is "t": ` + bad},
		{"two", "2", false, `ci: OPENLOOP_UPDATE is "2": ` + bad},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := load(vars{"OPENLOOP_UPDATE": row.value}.lookup, parsed(t))
			if got.Update != row.update || text(err) != row.err {
				t.Errorf("update %v, error %q; want %v, %q", got.Update, text(err), row.update, row.err)
			}
		})
	}
}

func TestInCIAnUpdateIsSaidTwice(t *testing.T) {
	const refused = "in CI (GitLab CI): a job that accepts what it measures gates nothing, so nothing was written; say it twice with OPENLOOP_UPDATE_IN_CI=1, or unset it"
	for _, row := range []struct {
		name string
		env  vars
		args []string
		err  string
	}{
		{"update", vars{"OPENLOOP_UPDATE": "1"}, nil, "ci: OPENLOOP_UPDATE=1 (or -openloop.update) " + refused},
		{"the flag", nil, []string{"-openloop.update"}, "ci: OPENLOOP_UPDATE=1 (or -openloop.update) " + refused},
		{"create", vars{"OPENLOOP_CREATE": "1"}, nil, "ci: OPENLOOP_CREATE=1 (or -openloop.update) " + refused},
		{"said twice", vars{"OPENLOOP_UPDATE": "1", "OPENLOOP_UPDATE_IN_CI": "1"}, nil, ""},
		{"zero asks for nothing", vars{"OPENLOOP_UPDATE": "0"}, nil, ""},
		{"only the second word", vars{"OPENLOOP_UPDATE_IN_CI": "1"}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := vars{"GITLAB_CI": "true", "CI": "true"}
			for k, v := range row.env {
				env[k] = v
			}
			got, err := load(env.lookup, parsed(t, row.args...))
			if text(err) != row.err {
				t.Errorf("got %q, want %q", text(err), row.err)
			}
			if err != nil && got != (Config{}) {
				t.Errorf("a refused configuration must be zero, got %+v", got)
			}
		})
	}
}

// What nothing can be compared with is refused before it is measured.
func TestABaselineOfTooFewRuns(t *testing.T) {
	const refused = ", and a baseline of fewer than 3 runs compares with nothing, so none was made: unset it for 12 runs, set it to 3 or more, or unset "
	for _, row := range []struct {
		name string
		env  vars
		err  string
	}{
		{"one run", vars{"OPENLOOP_UPDATE": "1", "OPENLOOP_RUNS": "1"}, "ci: OPENLOOP_RUNS is 1" + refused + "OPENLOOP_UPDATE (and -openloop.update)"},
		{"of a missing one there are three, where others are only judged", vars{"OPENLOOP_CREATE": "1", "OPENLOOP_RUNS": "2"}, ""},
		{"three", vars{"OPENLOOP_UPDATE": "1", "OPENLOOP_RUNS": "3"}, ""},
		{"one more for a baseline that there is", vars{"OPENLOOP_UPDATE": "1", "OPENLOOP_APPEND": "1", "OPENLOOP_RUNS": "1"}, ""},
		{"one run that is only judged", vars{"OPENLOOP_RUNS": "1"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := load(row.env.lookup, parsed(t)); text(err) != row.err {
				t.Errorf("got %q, want %q", text(err), row.err)
			}
		})
	}
}

// Whatever is in the variable, only "1" updates, and only a value that says no
// is taken without an error.
func FuzzOnlyOneUpdates(f *testing.F) {
	for _, value := range []string{"", "0", "1", "false", "true", "yes", "01", "1 ", "\x00"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := load(vars{"OPENLOOP_UPDATE": value}.lookup, flag.NewFlagSet("none", flag.ContinueOnError))
		if got.Update != (value == "1") {
			t.Errorf("%q: update is %v", value, got.Update)
		}
		if no := value == "" || value == "0" || value == "false"; (err == nil) != (no || value == "1") {
			t.Errorf("%q: error %v", value, err)
		}
	})
}
