// Command openloop goes beside the module: what is done outside of go test.
//
//	openloop compare OLD NEW   judge one set of runs against another
//	openloop doctor URL        whether a running server can be measured
//	openloop plan              what runs can show before they are made
//	openloop roofline          what this host can offer and read
//	openloop sim               serve the embedded engine on a port
//
// Run a verb with -h for its flags. A verb that is not known, a flag that is
// not, or input that cannot be used ends with exit status 2.
package main

import (
	"fmt"
	"io"
	"os"
)

// Exit statuses that verbs share.
const (
	exitOK       = 0
	exitNegative = 1 // the answer is no: regressed, not measurable
	exitUnusable = 2 // misuse, or input that cannot be used
	exitUnclear  = 3 // inconclusive
)

// verbs are the command's jobs. Each takes the arguments after its name and
// returns the exit status.
var verbs = map[string]func(args []string, stdout, stderr io.Writer) int{
	"compare":  compareVerb,
	"doctor":   doctorVerb,
	"plan":     planVerb,
	"roofline": rooflineVerb,
	"sim":      simVerb,
}

const usage = `usage: openloop VERB [flags] [arguments]

    openloop compare OLD NEW   judge one set of runs against another
    openloop doctor URL        whether a running server can be measured
    openloop plan              what runs can show before they are made
    openloop roofline          what this host can offer and read
    openloop sim               serve the embedded engine on a port

openloop VERB -h tells a verb's flags.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUnusable
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	verb, ok := verbs[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "openloop: unknown verb %q\n\n%s", args[0], usage)
		return exitUnusable
	}
	return verb(args[1:], stdout, stderr)
}
