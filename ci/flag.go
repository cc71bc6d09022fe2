package ci

import (
	"flag"
	"fmt"
)

// UpdateFlag is the name of the flag that accepts new baselines.
const UpdateFlag = "openloop.update"

// RegisterFlags defines -openloop.update in flags; package assert does it for
// the test binaries that import it. A flag of that name that is there already
// is left alone, so that registering twice is harmless.
//
// The flag is a switch, and takes these words too: create writes only the
// baselines that do not exist yet, append adds runs to those that do.
func RegisterFlags(flags *flag.FlagSet) {
	if flags.Lookup(UpdateFlag) != nil {
		return
	}
	flags.Var(new(updateWord), UpdateFlag, "accept the measured runs as the new baselines; =create writes only missing ones, =append adds runs to those that exist")
}

// updateWord is the flag's value: "" until it is given.
type updateWord string

func (w *updateWord) String() string   { return string(*w) }
func (w *updateWord) IsBoolFlag() bool { return true }

func (w *updateWord) Set(s string) error {
	switch s {
	case "1":
		s = "true"
	case "0":
		s = "false"
	case "true", "false", "create", "append":
	default:
		return fmt.Errorf("must be true, false, create or append")
	}
	*w = updateWord(s)
	return nil
}

// flag applies -openloop.update, if it was given. It beats the environment.
func (c *Config) flag(flags *flag.FlagSet) []error {
	if !flags.Parsed() {
		return nil
	}
	var problems []error
	flags.Visit(func(f *flag.Flag) {
		if f.Name != UpdateFlag {
			return
		}
		c.Update, c.Create, c.Append = false, false, false
		switch word := f.Value.String(); word {
		case "true", "1":
			c.Update = true
		case "false", "0":
		case "create":
			c.Create = true
		case "append":
			c.Update, c.Append = true, true
		default:
			problems = append(problems, fmt.Errorf("ci: -%s is %q: must be true, false, create or append", UpdateFlag, word))
		}
	})
	return problems
}
