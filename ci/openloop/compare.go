package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/benchtest/steady"
	"github.com/openloop-go/openloop/regressions"
)

const compareUsage = `usage: openloop compare [flags] OLD NEW

Judges the runs of NEW against those of OLD, as assert.NoRegression does, and
prints the verdict. OLD and NEW are baselines (*.bench) or run records
(*.jsonl) of the same point.

exit status: 0 pass or improved, 1 regressed, 2 invalid or unusable input,
3 inconclusive

flags:
`

func compareVerb(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var gate regressions.Gate
	flags.Var((*percentage)(&gate.Margin), "margin", "the slowdown tolerated, as `5%` or 0.05 (default 5%)")
	flags.Var((*percentage)(&gate.FalseAlarms), "false-alarms", "the rate of false alarms of the whole job, as `2.5%` (default 2.5%)")
	flags.IntVar(&gate.Gates, "gates", 0, "the number of points with a baseline in the whole job, which share that rate (default 1)")
	flags.Var((*metricList)(&gate.Metrics), "metrics", "the metrics to gate, separated by commas, each with its own margin where it has one: `p50-tpot-sec,p50-ttft-sec=10%` (default: the gate's own set)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, compareUsage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return exitOK
	case err != nil:
		return unusable(stderr, err)
	case flags.NArg() != 2:
		return unusable(stderr, fmt.Errorf("want two files, OLD and NEW, got %d", flags.NArg()))
	}
	if err := gate.Validate(); err != nil {
		return unusable(stderr, err)
	}
	old, _, errOld := readRuns(flags.Arg(0))
	new, unsettled, errNew := readRuns(flags.Arg(1))
	if err := errors.Join(errOld, errNew); err != nil {
		return unusable(stderr, err)
	}
	verdict := regressions.Compare(old, new, gate)
	status := verdict.Status
	if status.Green() && unsettled != "" {
		status = regressions.Inconclusive
		fmt.Fprintf(stdout, "inconclusive: no slower, but only if the queue does not grow, which is undecided: %s\n", unsettled)
	}
	if _, err := fmt.Fprintln(stdout, strings.TrimRight(verdict.Text(), "\n")); err != nil {
		return unusable(stderr, fmt.Errorf("writing the verdict: %w", err))
	}
	switch status {
	case regressions.Pass, regressions.Improved:
		return exitOK
	case regressions.Regressed:
		return exitNegative
	case regressions.Inconclusive:
		return exitUnclear
	}
	return exitUnusable
}

func unusable(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "openloop compare: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitUnusable
}

// readRuns reads a baseline, or run records as if they were to become one.
// unsettled says that their queue may have grown, where that would matter.
func readRuns(path string) (b *regressions.Baseline, unsettled string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		b, err = regressions.ReadBaseline(path)
		return b, "", err
	}
	records, err := metric.ReadRecords(bytes.NewReader(data))
	if err == nil {
		unsettled, err = judgeable(records)
	}
	var arm regressions.Arm
	if err == nil {
		arm, err = regressions.FromRecords(records, nil)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return &regressions.Baseline{Arm: arm, Recorded: records[0].Time}, unsettled, nil
}

// judgeable refuses records that no baseline could be made of either, and says
// where the queue is undecided at a load that is not known to be quiet.
func judgeable(records []*metric.Record) (unsettled string, err error) {
	if len(records) == 0 {
		return "", errors.New("no runs")
	}
	var problems []error
	for _, r := range records {
		for _, p := range r.Problems {
			problems = append(problems, fmt.Errorf("run %d is invalid: %s: %s", r.Run, p.Kind, p.Text))
		}
	}
	first := records[0]
	if len(problems) > 0 || first.InFlight > 0 {
		return "", errors.Join(problems...)
	}
	v, err := steady.JudgeRecords(records...)
	switch {
	case err == nil && v.State == steady.Growing:
		return "", fmt.Errorf("the queue grows, so its latencies are a function of how long one ran: %s", v)
	case first.Quiet() || err == nil && v.State == steady.Sustained:
		return "", nil
	case err != nil:
		return err.Error(), nil
	}
	return v.String(), nil
}

// percentage is a flag for a share: "5%" and "0.05" are the same.
type percentage float64

func (p *percentage) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(*p), 'g', -1, 64) + "%"
}

func (p *percentage) Set(s string) error {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return errors.New("must be a percentage such as 5%, or a share above 0 and up to 1")
	}
	*p = percentage(v)
	return nil
}

// metricList is a flag for gated metrics.
type metricList []regressions.Metric

func (l *metricList) String() string {
	var names []string
	for _, m := range *l {
		names = append(names, m.Name)
	}
	return strings.Join(names, ",")
}

func (l *metricList) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		name, margin, has := strings.Cut(strings.TrimSpace(part), "=")
		m := regressions.Metric{Name: name}
		if has {
			if err := (*percentage)(&m.Margin).Set(margin); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if _, ok := metric.Lookup(name); !ok {
			return fmt.Errorf("metric %q is unknown: known are %s", name, strings.Join(metric.Names(), ", "))
		}
		*l = append(*l, m)
	}
	return nil
}
