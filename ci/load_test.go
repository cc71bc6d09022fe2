package ci

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// vars is an environment of its own: nothing of the machine shows through.
type vars map[string]string

func (v vars) lookup(key string) (string, bool) {
	value, ok := v[key]
	return value, ok
}

func parsed(t *testing.T, args ...string) *flag.FlagSet {
	t.Helper()
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	RegisterFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags
}

func TestLoadReadsEveryVariable(t *testing.T) {
	got, err := load(vars{
		"OPENLOOP_ENGINE_URL":   "http://gpu-3:8000",
		"OPENLOOP_VLLM_URL":     "https://vllm.example/v1",
		"OPENLOOP_SGLANG_URL":   "http://[::1]:30000",
		"OPENLOOP_LLAMACPP_URL": "http://127.0.0.1:8080",
		"OPENLOOP_MODEL":        "some/model",
		"OPENLOOP_API_KEY":      "sk-1",
		"OPENLOOP_UPDATE":       "1",
		"OPENLOOP_CREATE":       "1",
		"OPENLOOP_APPEND":       "1",
		"OPENLOOP_UPDATE_IN_CI": "1",
		"OPENLOOP_RUNS":         "5",
		"OPENLOOP_BUDGET":       "90m",
		"OPENLOOP_ARTIFACTS":    "/tmp/out",
		"OPENLOOP_LOCKS":        "/shared/locks",
		"OPENLOOP_INCONCLUSIVE": "warn",
		"GITHUB_ACTIONS":        "true",
		"GITHUB_RUN_ID":         "77",
		"GITHUB_RUN_ATTEMPT":    "2",
	}.lookup, parsed(t))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		EngineURL: "http://gpu-3:8000", VLLMURL: "https://vllm.example/v1",
		SGLangURL: "http://[::1]:30000", LlamaCppURL: "http://127.0.0.1:8080",
		Model: "some/model", APIKey: "sk-1",
		Update: true, Create: true, Append: true, UpdateInCI: true,
		Runs: 5, Budget: 90 * time.Minute, Artifacts: "/tmp/out", Locks: "/shared/locks", Inconclusive: InconclusiveWarns,
		CI: true, System: "GitHub Actions", RunID: "77/2",
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestNothingSetChangesNothing(t *testing.T) {
	got, err := load(vars{}.lookup, parsed(t))
	if err != nil || got != (Config{}) {
		t.Errorf("got %+v, %v; want the zero configuration", got, err)
	}
}

func TestTheFlagBeatsTheEnvironment(t *testing.T) {
	for _, row := range []struct {
		name                   string
		env                    vars
		args                   []string
		update, create, append bool
	}{
		{"not given, the environment says yes", vars{"OPENLOOP_UPDATE": "1"}, nil, true, false, false},
		{"given bare", nil, []string{"-openloop.update"}, true, false, false},
		{"given as 1", nil, []string{"-openloop.update=1"}, true, false, false},
		{"given as false against the environment", vars{"OPENLOOP_UPDATE": "1"}, []string{"-openloop.update=false"}, false, false, false},
		{"create", vars{"OPENLOOP_UPDATE": "1"}, []string{"-openloop.update=create"}, false, true, false},
		{"append", nil, []string{"-openloop.update=append"}, true, false, true},
		{"bare against append in the environment", vars{"OPENLOOP_UPDATE": "1", "OPENLOOP_APPEND": "1"}, []string{"-openloop.update"}, true, false, false},
		{"the last one counts", nil, []string{"-openloop.update", "-openloop.update=0"}, false, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := load(row.env.lookup, parsed(t, row.args...))
			if err != nil {
				t.Fatal(err)
			}
			if got.Update != row.update || got.Create != row.create || got.Append != row.append {
				t.Errorf("update %v create %v append %v, want %v %v %v", got.Update, got.Create, got.Append, row.update, row.create, row.append)
			}
		})
	}
}

func TestTheFlagRefusesOtherWords(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	RegisterFlags(flags)
	err := flags.Parse([]string{"-openloop.update=yes"})
	const want = `invalid boolean value "yes" for -openloop.update: must be true, false, create or append`
	if text(err) != want {
		t.Errorf("got %q, want %q", text(err), want)
	}
}

func TestRegisteringTwiceIsHarmless(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	theirs := flags.Bool(UpdateFlag, false, "somebody else's")
	RegisterFlags(flags)
	RegisterFlags(flags)
	if err := flags.Parse([]string{"-" + UpdateFlag}); err != nil {
		t.Fatal(err)
	}
	got, err := load(vars{}.lookup, flags)
	if err != nil || !got.Update || !*theirs {
		t.Errorf("update %v, theirs %v, error %v; want both to be set", got.Update, *theirs, err)
	}
}

func TestBeforeTheFlagsAreParsedOnlyTheEnvironmentCounts(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	RegisterFlags(flags)
	if got, err := load(vars{}.lookup, flags); err != nil || got.Update {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEveryProblemIsInOneError(t *testing.T) {
	_, err := load(vars{
		"OPENLOOP_ENGINE_URL":   "gpu-3:8000",
		"OPENLOOP_VLLM_URL":     "http://user:hunter2@host:1",
		"OPENLOOP_SGLANG_URL":   "http://host:1?key=v",
		"OPENLOOP_LLAMACPP_URL": "http://host:port",
		"OPENLOOP_API_KEY":      "hunter2\n",
		"OPENLOOP_APPEND":       "1",
		"OPENLOOP_RUNS":         "three",
		"OPENLOOP_BUDGET":       "10",
		"OPENLOOP_INCONCLUSIVE": "ignore",
		"OPENLOOP_CREATE":       "on",
	}.lookup, parsed(t))
	const want = `ci: OPENLOOP_CREATE is "on": only "1" is on, and "0", "false" or nothing is off; set it to 1 or unset it
ci: OPENLOOP_RUNS is "three": must be a whole number, 0 or more
ci: OPENLOOP_BUDGET is "10": must be a duration with its unit, such as 10m or 1h30m
ci: OPENLOOP_INCONCLUSIVE is "ignore": must be fail, skip or warn
ci: OPENLOOP_ENGINE_URL is "gpu-3:8000": must be a URL such as http://localhost:8000
ci: OPENLOOP_VLLM_URL carries user information (the value is not shown), which would reach records and logs: take it out and set OPENLOOP_API_KEY
ci: OPENLOOP_SGLANG_URL must have no query and no fragment, as in http://localhost:8000 (the value is not shown: keys have been seen there)
ci: OPENLOOP_LLAMACPP_URL is "http://host:port": must be a URL such as http://localhost:8000
ci: OPENLOOP_API_KEY holds a space or a control character, which a header cannot carry (the value is not shown): set it to the bare key
ci: OPENLOOP_APPEND is "1": nothing is updated that could be appended to; set OPENLOOP_UPDATE=1 too, or unset it`
	if text(err) != want {
		t.Errorf("got\n%s\nwant\n%s", text(err), want)
	}
}

func TestNegativeNumbersAreRefused(t *testing.T) {
	_, err := load(vars{"OPENLOOP_RUNS": "-3", "OPENLOOP_BUDGET": "-1m"}.lookup, parsed(t))
	const want = `ci: OPENLOOP_RUNS is "-3": must be a whole number, 0 or more
ci: OPENLOOP_BUDGET is "-1m": must not be negative; unset it for no bound`
	if text(err) != want {
		t.Errorf("got\n%s\nwant\n%s", text(err), want)
	}
}

func TestTheKeyIsNeverShown(t *testing.T) {
	c := Config{APIKey: "hunter2", Model: "m"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("configuration", "config", c)
	for _, shown := range []string{
		fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s", c, c, c, c), fmt.Sprintf("%v", &c), log.String(),
	} {
		if strings.Contains(shown, "hunter2") {
			t.Errorf("the key is in %q", shown)
		}
		if !strings.Contains(shown, "APIKey:(set)") || !strings.Contains(shown, "Model:m") {
			t.Errorf("%q shows neither that a key is set nor the rest", shown)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
