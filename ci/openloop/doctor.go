package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines/doctor"
)

const doctorUsage = `usage: openloop doctor [flags] URL

Looks at a running server (vLLM, SGLang, llama.cpp or any other with OpenAI's
routes) and says whether it can be measured, with a remedy for what is wrong.
It takes seconds. It sends ` + doctor.Plan + `.

Findings are ok, warn (a limitation: what is measured is true and less can be
said, or it is said what is wrong by how much), fault (measurements would be
untrue, or impossible) and unknown (it could not be found out). The key is read from OPENLOOP_API_KEY, and never
shown.

Tests that measure the server wait until it is done; where one is measuring, it
says so and sends nothing.

exit status: 0 measurable, 1 not measurable, 2 unreachable, being measured or
bad usage

flags:
`

func doctorVerb(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var cfg doctor.Config
	asJSON := flags.Bool("json", false, "print the report as JSON when all is done")
	flags.StringVar(&cfg.Model, "model", "", "the `name` of the model to ask for (default OPENLOOP_MODEL, else the only one that is served)")
	flags.StringVar(&cfg.Kind, "kind", "", "the `kind` that is expected: "+strings.Join(doctor.Kinds(), ", ")+"; openai is any other (default what is there)")
	flags.BoolVar(&cfg.Chat, "chat", false, "ask /v1/chat/completions only")
	flags.BoolVar(&cfg.KeepCache, "keep-cache", false, "do not try the flush: the prefix cache is left as it is")
	flags.BoolVar(&cfg.Regardless, "regardless", false, "look at a server that is being measured too, which disturbs the measurement")
	flags.DurationVar(&cfg.Patience, "patience", 0, "how long one generation may take (default 30s)")
	urls, err := parseMixed(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, doctorUsage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return exitOK
	case err != nil:
		return cannotExamine(stderr, err)
	case len(urls) != 1:
		return cannotExamine(stderr, fmt.Errorf("want the URL of one server, as in http://127.0.0.1:8000, got %d", len(urls)))
	}
	env, err := ci.Load()
	if err != nil {
		return cannotExamine(stderr, err)
	}
	cfg.URL, cfg.APIKey = urls[0], env.APIKey
	if cfg.Model == "" {
		cfg.Model = env.Model
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return examine(ctx, cfg, *asJSON, stdout, stderr)
}

// parseMixed parses flags before and after the arguments, which it returns.
func parseMixed(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if args = flags.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	return rest, nil
}

func cannotExamine(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "openloop doctor: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitUnusable
}

// examine prints findings as they are made, or all of them as JSON.
func examine(ctx context.Context, cfg doctor.Config, asJSON bool, stdout, stderr io.Writer) int {
	if u, err := url.Parse(cfg.URL); err == nil && u.Host != "" {
		fmt.Fprintf(stderr, "openloop doctor: %s://%s%s is sent %s\n", u.Scheme, u.Host, u.Path, doctor.Plan)
	}
	if !asJSON {
		cfg.Found = func(f doctor.Finding) { printFinding(stdout, f) }
	}
	report, err := doctor.Examine(ctx, cfg)
	if err != nil {
		return cannotExamine(stderr, err)
	}
	if asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(struct {
			Verdict doctor.Verdict `json:"verdict"`
			*doctor.Report
		}{report.Verdict(), report}); err != nil {
			return cannotExamine(stderr, err)
		}
	} else {
		fmt.Fprintf(stdout, "\n%s\n", summary(report))
	}
	switch report.Verdict() {
	case doctor.Measurable:
		return exitOK
	case doctor.NotMeasurable:
		return exitNegative
	}
	return exitUnusable
}

func printFinding(w io.Writer, f doctor.Finding) {
	fmt.Fprintf(w, "%-7s  %-16s  %s\n", f.Status, f.Name, f.Seen)
	if f.Remedy != "" {
		fmt.Fprintf(w, "%27s→ %s\n", "", f.Remedy)
	}
}

// summary is the verdict and what it rests on.
func summary(r *doctor.Report) string {
	s := string(r.Verdict())
	sep := ": "
	for _, status := range []doctor.Status{doctor.Fault, doctor.Warn, doctor.Unknown} {
		var names []string
		for _, f := range r.Findings {
			if f.Status == status {
				names = append(names, f.Name)
			}
		}
		if len(names) > 0 {
			s += fmt.Sprintf("%s%s %s", sep, status, strings.Join(names, ", "))
			sep = "; "
		}
	}
	if r.Stopped {
		s += "; nothing further could be looked at"
	}
	return s
}
