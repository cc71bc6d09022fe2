package ci_test

import (
	"flag"
	"fmt"
	"os"

	"github.com/openloop-go/openloop/ci"
)

func ExampleLoad() {
	os.Setenv("OPENLOOP_BUDGET", "45m")
	os.Setenv("OPENLOOP_MODEL", "meta-llama/Meta-Llama-3-8B-Instruct")
	defer os.Unsetenv("OPENLOOP_BUDGET")
	defer os.Unsetenv("OPENLOOP_MODEL")

	config, err := ci.Load()
	fmt.Println(config.Budget, config.Model, err)
	// Output: 45m0s meta-llama/Meta-Llama-3-8B-Instruct <nil>
}

// A wrong variable is named with its value and the remedy, and nothing else
// of the configuration is used.
func ExampleLoad_wrong() {
	os.Setenv("OPENLOOP_UPDATE", "yes")
	os.Setenv("OPENLOOP_BUDGET", "10")
	defer os.Unsetenv("OPENLOOP_UPDATE")
	defer os.Unsetenv("OPENLOOP_BUDGET")

	_, err := ci.Load()
	fmt.Println(err)
	// Output:
	// ci: OPENLOOP_UPDATE is "yes": only "1" is on, and "0", "false" or nothing is off; set it to 1 or unset it
	// ci: OPENLOOP_BUDGET is "10": must be a duration with its unit, such as 10m or 1h30m
}

func ExampleConfig_String() {
	fmt.Println(ci.Config{APIKey: "sk-12345", Runs: 5}.String()[:43])
	config := ci.Config{APIKey: "sk-12345"}
	fmt.Println(len(fmt.Sprintf("%#v", config)) > 0, config.LogValue().Kind())
	// Output:
	// {EngineURL: VLLMURL: SGLangURL: LlamaCppURL
	// true String
}

// A baseline is recorded with 12 runs, of which the first look makes three;
// appending adds what was measured.
func ExampleConfig_BaselineRuns() {
	fmt.Println(ci.Config{Update: true}.BaselineRuns(3))
	fmt.Println(ci.Config{Update: true, Runs: 5}.BaselineRuns(5))
	fmt.Println(ci.Config{Update: true, Append: true}.BaselineRuns(3))
	fmt.Println(ci.Config{Create: true, Runs: 1}.BaselineRuns(1))
	// Output:
	// 12
	// 5
	// 3
	// 3
}

func ExampleRegisterFlags() {
	flags := flag.NewFlagSet("a test binary", flag.ContinueOnError)
	ci.RegisterFlags(flags)
	ci.RegisterFlags(flags) // a second time changes nothing
	fmt.Println(flags.Parse([]string{"-" + ci.UpdateFlag}), flags.Lookup(ci.UpdateFlag).Value)
	// Output: <nil> true
}

func ExampleDetect() {
	switch system := ci.Detect(); system {
	case "":
		fmt.Fprintln(os.Stderr, "a developer's machine")
	default:
		fmt.Fprintln(os.Stderr, "run by", system)
	}
	// Output:
}

func ExampleCommit() {
	commit := ci.Commit(".") // empty outside a repository
	fmt.Println(len(commit) == 0 || len(commit) == 40 || len(commit) == 64)
	// Output: true
}

func ExampleInconclusive() {
	config := ci.Config{Inconclusive: ci.InconclusiveWarns}
	fmt.Println(config.Inconclusive == ci.InconclusiveFails, config.Inconclusive == ci.InconclusiveSkips)
	// Output: false false
}

// Race decides at compile time whether wall-clock results may be gated.
func ExampleRace() {
	if ci.Race {
		fmt.Fprintln(os.Stderr, "built with -race: functional run only")
	}
	// Output:
}
