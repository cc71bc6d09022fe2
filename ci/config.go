// Package ci holds the configuration of a test run, from the environment and
// from flags, and knows which continuous-integration system this is. It
// imports nothing else of the module.
package ci

import "time"

// Config is the configuration of a whole `go test` run. Environment comes
// first, because a flag breaks `go test ./...` in packages that do not define
// it; a flag, where it is defined, wins.
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

	// Update accepts the measured runs as the new baseline: exactly "1" or
	// "true" as a flag; any other value is an error, so that "0" does not
	// update. In CI it needs UpdateInCI as well.
	Update bool `env:"OPENLOOP_UPDATE"`
	// UpdateInCI says, a second time, that a baseline may be written in CI.
	UpdateInCI bool `env:"OPENLOOP_UPDATE_IN_CI"`
	// Append adds runs of another start to a baseline instead of replacing it.
	Append bool `env:"OPENLOOP_APPEND"`

	// Runs overrides the number of runs of the first look; zero leaves it.
	Runs int `env:"OPENLOOP_RUNS"`
	// Budget bounds the wall time of one measurement; zero is no bound but
	// the test's deadline.
	Budget time.Duration `env:"OPENLOOP_BUDGET"`
	// Artifacts is the folder for records and reports; empty is
	// testdata/openloop in the package's folder.
	Artifacts string `env:"OPENLOOP_ARTIFACTS"`
	// Inconclusive says what an inconclusive verdict does to a test.
	Inconclusive Inconclusive `env:"OPENLOOP_INCONCLUSIVE"`

	// CI is true when a continuous-integration system runs this.
	CI bool `env:"CI"`
}

// Inconclusive is what an inconclusive verdict does to a test.
type Inconclusive string

const (
	// InconclusiveFails, the zero value: the test fails.
	InconclusiveFails Inconclusive = ""
	// InconclusiveSkips: the test is skipped, with the verdict as the reason.
	InconclusiveSkips Inconclusive = "skip"
	// InconclusiveWarns: the verdict is logged and the test goes on.
	InconclusiveWarns Inconclusive = "warn"
)
