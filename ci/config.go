// Package ci holds the configuration of a test run, from the environment and
// from flags, and knows which continuous-integration system this is. It
// imports nothing else of the module.
package ci

import (
	"fmt"
	"log/slog"
	"time"
)

// Config is the configuration of a whole `go test` run. Environment comes
// first, because a flag breaks `go test ./...` in packages that do not define
// it; a flag, where it is defined, wins. The zero value changes nothing:
// engines are started, baselines are judged against and never written.
type Config struct {
	// EngineURL attaches to a running server instead of starting one. The URL
	// of a kind (VLLMURL, …) beats it for that kind.
	EngineURL   string `env:"OPENLOOP_ENGINE_URL"`
	VLLMURL     string `env:"OPENLOOP_VLLM_URL"`
	SGLangURL   string `env:"OPENLOOP_SGLANG_URL"`
	LlamaCppURL string `env:"OPENLOOP_LLAMACPP_URL"`
	// Model overrides the model a test asks for.
	Model string `env:"OPENLOOP_MODEL"`
	// APIKey is sent as a bearer token; it never reaches a file or a log.
	APIKey string `env:"OPENLOOP_API_KEY"`

	// Update accepts the measured runs as the new baseline, whether there is
	// one already or not. In the environment only "1" says so, "0" and
	// "false" do not, and anything else is an error. In CI it needs
	// UpdateInCI as well.
	Update bool `env:"OPENLOOP_UPDATE"`
	// Create writes the baselines that do not exist yet and judges against
	// those that do. In CI it needs UpdateInCI as well.
	Create bool `env:"OPENLOOP_CREATE"`
	// Append makes Update add runs of another start to the baseline instead
	// of replacing it.
	Append bool `env:"OPENLOOP_APPEND"`
	// UpdateInCI says, a second time, that a baseline may be written in CI.
	UpdateInCI bool `env:"OPENLOOP_UPDATE_IN_CI"`

	// Runs overrides the number of runs of the first look and, with Update or
	// Create, of the baseline; zero leaves them. A baseline takes 3 at least.
	// More than the usual three, and those of a baseline, are spread over two
	// starts of the engine where it can be restarted and the point does not
	// say otherwise. A gate that wants more runs than these still makes them.
	Runs int `env:"OPENLOOP_RUNS"`
	// Budget bounds the wall time of one measurement; zero is no bound but
	// the test's deadline.
	Budget time.Duration `env:"OPENLOOP_BUDGET"`
	// Artifacts is the folder for records and reports; empty is
	// testdata/openloop in the package's folder. Baselines are always below
	// testdata/openloop, because they are committed.
	Artifacts string `env:"OPENLOOP_ARTIFACTS"`
	// Locks is the folder of the locks that keep test binaries off the same
	// device or server; empty is one in this user's cache. Users who share a
	// device, and containers, need one that they share.
	Locks string `env:"OPENLOOP_LOCKS"`
	// Inconclusive says what an inconclusive verdict does to a test.
	Inconclusive Inconclusive `env:"OPENLOOP_INCONCLUSIVE"`

	// CI is true when a continuous-integration system runs this; System is
	// its name, as Detect gives it, and RunID what that system calls this
	// run. A result that go test has cached under another run id is not
	// served again, because the id was read.
	CI     bool
	System string
	RunID  string
}

// Inconclusive is what an inconclusive verdict does to a test.
type Inconclusive string

const (
	// InconclusiveFails, the zero value: the test fails. In the environment
	// it is also written "fail".
	InconclusiveFails Inconclusive = ""
	// InconclusiveSkips: the test is skipped, with the verdict as the reason.
	InconclusiveSkips Inconclusive = "skip"
	// InconclusiveWarns: the verdict is logged and the test goes on.
	InconclusiveWarns Inconclusive = "warn"
)

// A baseline has 12 runs: its share of the noise is then well below that of a
// candidate's first three. Fewer than 3 compare with nothing, since one run has
// no spread, and two next to none.
const baselineRuns, leastRuns = 12, 3

// BaselineRuns is how many runs a baseline is recorded with, where first of
// them are made by the first look: 12, or what Runs says, and never fewer than
// first. With Append it is first, since what was measured is added. Where a
// baseline is only missing (Create) it is 3 or more, whatever Runs says, which
// is meant for the gates that have theirs.
func (c Config) BaselineRuns(first int) int {
	switch {
	case c.Append:
		return first
	case c.Runs > 0:
		return max(c.Runs, first, leastRuns)
	}
	return max(baselineRuns, first)
}

// String shows the configuration with the API key left out, so that logging
// it is safe. It serves %v, %+v and %s.
func (c Config) String() string {
	type shown Config // without the methods, so that formatting ends
	return fmt.Sprintf("%+v", shown(c.withoutSecrets()))
}

// GoString is String, so that %#v keeps the key out too.
func (c Config) GoString() string { return "ci.Config" + c.String() }

// LogValue is the configuration for log/slog, with the API key left out.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

func (c Config) withoutSecrets() Config {
	if c.APIKey != "" {
		c.APIKey = "(set)"
	}
	return c
}
