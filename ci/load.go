package ci

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Load reads the environment and then the flag -openloop.update, where it is
// defined and given. Every problem is in the one error, each naming the
// variable, its value and the remedy; the configuration is then zero.
//
// Each variable is read by itself: go test notices a variable that was read
// so and does not serve a cached result once it has changed, which it would
// if the environment were read as a whole.
func Load() (Config, error) {
	return load(os.LookupEnv, flag.CommandLine)
}

func load(lookup func(string) (string, bool), flags *flag.FlagSet) (Config, error) {
	var c Config
	environment := read(lookup)
	problems := parse(&c, environment)
	problems = append(problems, c.flag(flags)...)
	c.System, c.RunID = detect(lookup)
	c.CI = c.System != ""
	problems = append(problems, c.validate(environment)...)
	if len(problems) > 0 {
		return Config{}, errors.Join(problems...)
	}
	return c, nil
}

// variable is the environment variable of each field of Config.
var variable = func() map[string]string {
	names := make(map[string]string)
	for f := range reflect.TypeFor[Config]().Fields() {
		if key, ok := f.Tag.Lookup("env"); ok {
			names[f.Name] = key
		}
	}
	return names
}()

func read(lookup func(string) (string, bool)) map[string]string {
	environment := make(map[string]string)
	for _, key := range variable {
		if value, ok := lookup(key); ok {
			environment[key] = value
		}
	}
	return environment
}

func parse(c *Config, environment map[string]string) []error {
	err := env.ParseWithOptions(c, env.Options{
		Environment: environment,
		FuncMap: map[reflect.Type]env.ParserFunc{
			reflect.TypeFor[bool]():         parseSwitch,
			reflect.TypeFor[Inconclusive](): parseInconclusive,
		},
	})
	if err == nil {
		return nil
	}
	var all env.AggregateError
	if !errors.As(err, &all) {
		return []error{fmt.Errorf("ci: %w", err)}
	}
	var problems []error
	for _, e := range all.Errors {
		var field env.ParseError
		if !errors.As(e, &field) {
			problems = append(problems, fmt.Errorf("ci: %w", e))
			continue
		}
		key := variable[field.Name]
		problems = append(problems, problem(key, environment[key], remedy(field)))
	}
	return problems
}

// parseSwitch reads a switch. Only "1" is on: a variable whose value "0"
// still updated baselines has cost others months of tests that asserted
// nothing.
func parseSwitch(value string) (any, error) {
	switch value {
	case "1":
		return true, nil
	case "0", "false":
		return false, nil
	}
	return nil, errors.New(`only "1" is on`)
}

func parseInconclusive(value string) (any, error) {
	switch value {
	case "fail":
		return InconclusiveFails, nil
	case string(InconclusiveSkips), string(InconclusiveWarns):
		return Inconclusive(value), nil
	}
	return nil, errors.New("unknown word")
}

func remedy(field env.ParseError) string {
	switch field.Type {
	case reflect.TypeFor[bool]():
		return `only "1" is on, and "0", "false" or nothing is off; set it to 1 or unset it`
	case reflect.TypeFor[Inconclusive]():
		return "must be fail, skip or warn"
	case reflect.TypeFor[time.Duration]():
		return "must be a duration with its unit, such as 10m or 1h30m"
	case reflect.TypeFor[int]():
		return "must be a whole number, 0 or more"
	}
	return field.Err.Error()
}

func problem(key, value, remedy string) error {
	return fmt.Errorf("ci: %s is %q: %s", key, value, remedy)
}

func (c *Config) validate(environment map[string]string) []error {
	var problems []error
	for _, u := range []struct{ field, value string }{
		{"EngineURL", c.EngineURL}, {"VLLMURL", c.VLLMURL},
		{"SGLangURL", c.SGLangURL}, {"LlamaCppURL", c.LlamaCppURL},
	} {
		if err := checkURL(variable[u.field], u.value); err != nil {
			problems = append(problems, err)
		}
	}
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		problems = append(problems, fmt.Errorf("ci: %s holds a space or a control character, which a header cannot carry (the value is not shown): set it to the bare key", variable["APIKey"]))
	}
	if c.Runs < 0 {
		problems = append(problems, problem(variable["Runs"], environment[variable["Runs"]], "must be a whole number, 0 or more"))
	}
	if c.Budget < 0 {
		problems = append(problems, problem(variable["Budget"], environment[variable["Budget"]], "must not be negative; unset it for no bound"))
	}
	return append(problems, c.validateUpdate()...)
}

// validateUpdate keeps CI from writing its own baselines: a job that accepts
// what it has just measured asserts nothing.
func (c *Config) validateUpdate() []error {
	var problems []error
	if c.Append && !c.Update {
		problems = append(problems, problem(variable["Append"], "1", "nothing is updated that could be appended to; set "+variable["Update"]+"=1 too, or unset it"))
	}
	if c.Runs > 0 && c.Runs < leastRuns && c.Update && !c.Append {
		problems = append(problems, fmt.Errorf("ci: %s is %d, and a baseline of fewer than %d runs compares with nothing, so none was made: unset it for %d runs, set it to %d or more, or unset %s (and -%s)",
			variable["Runs"], c.Runs, leastRuns, baselineRuns, leastRuns, variable["Update"], UpdateFlag))
	}
	if c.CI && (c.Update || c.Create) && !c.UpdateInCI {
		problems = append(problems, fmt.Errorf("ci: %s=1 (or -%s) in CI (%s): a job that accepts what it measures gates nothing, so nothing was written; say it twice with %s=1, or unset it",
			c.asked(), UpdateFlag, c.System, variable["UpdateInCI"]))
	}
	return problems
}

// asked is the variable that asks for baselines to be written.
func (c *Config) asked() string {
	if c.Update {
		return variable["Update"]
	}
	return variable["Create"]
}

func checkURL(key, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case strings.Contains(value, "@"):
		return fmt.Errorf("ci: %s carries user information (the value is not shown), which would reach records and logs: take it out and set %s", key, variable["APIKey"])
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return problem(key, value, "must be a URL such as http://localhost:8000")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("ci: %s must have no query and no fragment, as in http://localhost:8000 (the value is not shown: keys have been seen there)", key)
	}
	return nil
}
