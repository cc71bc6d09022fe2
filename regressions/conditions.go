package regressions

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions/stat"
)

// lengthTolerance is the relative difference of mean prompt and output lengths
// above which two arms did not do the same work.
const lengthTolerance = 0.02

// warmthTolerance is how much more of its prompts a candidate may find in the
// cache.
const warmthTolerance = 0.01

// refusal is why two arms cannot be compared, and what to do.
type refusal struct{ reason, remedy string }

func refuse(remedy, format string, args ...any) *refusal {
	return &refusal{fmt.Sprintf(format, args...), remedy}
}

// conditions checks, before any number is looked at, that the arms may be
// compared at all.
func conditions(base *Baseline, cand Arm, old against) *refusal {
	if base == nil || len(base.Runs) == 0 {
		return refuse(old.renew(""), "there is no %s to compare with", old.name)
	}
	if no := alike(base.Arm, cand, old); no != nil {
		return no
	}
	if n := len(base.Runs); n < stat.MinRuns {
		return refuse(old.renew(""), "%s has %s, at least %d are needed", old, plural(n, "run"), stat.MinRuns)
	}
	for _, arm := range []Arm{base.Arm, cand} {
		if id := arm.twice(); id != "" {
			return refuse("judge each run once", "%s is there twice: what is measured once has no spread", id)
		}
	}
	return nil
}

// twice names a run that the arm has more than once, "" where there is none.
func (a Arm) twice() string {
	seen := map[string]bool{}
	for _, r := range a.Runs {
		id := fmt.Sprintf("run %d of start %s", r.Index, r.start())
		if seen[id] {
			return id
		}
		seen[id] = true
	}
	return ""
}

// alike checks that two arms were measured the same way on the same thing.
func alike(base, cand Arm, old against) *refusal {
	update := old.renew("compare like with like, or accept the new state as the baseline: ")
	switch {
	case len(cand.Problems) > 0:
		return refuse("make a valid run; each reason says how", "%s", cand.Problems[0])
	case len(base.Problems) > 0:
		return refuse(old.renew(""), "%s cannot be trusted: %s", old, base.Problems[0])
	case base.Schema != cand.Schema:
		return refuse(update, "metric formulas changed: %s has schema %d, these runs %d", old, base.Schema, cand.Schema)
	case !slices.Equal(base.Key, cand.Key):
		return refuse(old.renew("compare on the same hardware and engine, or record a baseline here: "), "other hardware or engine: %s", differ(base.Key, cand.Key))
	case base.PointHash != cand.PointHash || !slices.Equal(base.Point, cand.Point):
		return refuse(update, "workload changed: %s", differ(base.Point, cand.Point))
	case base.Virtual != cand.Virtual:
		return refuse(update, "virtual time and a real clock do not compare: %s is from %s, these runs from %s", old, clock(base.Virtual), clock(cand.Virtual))
	case base.Cache != cand.Cache:
		return refuse(update, "cache state differs: flush %q in %s, %q here", base.Cache, old, cand.Cache)
	}
	return nil
}

func clock(virtual bool) string {
	if virtual {
		return "virtual time"
	}
	return "a real clock"
}

// cachedShare tells whether two arms found the same in the cache.
const cachedShare = "cached-share"

// lengths are the metrics that tell whether two arms did the same work.
var lengths = []string{"mean-output-tokens", "mean-prompt-tokens"}

// sameWork checks that both arms did the same work: prompts and outputs of the
// same mean length, and no warmer cache. Lengths that the baseline has and the
// candidate has not could hide any change.
func sameWork(base, cand Arm, old against) *refusal {
	for _, arm := range []Arm{base, cand} {
		for _, name := range append([]string{cachedShare}, lengths...) {
			if _, err := samples(arm.with(name), metricDef(name), 1); err != nil {
				return refuse("nothing was compared; make a valid run", "no valid value: %v", err)
			}
		}
	}
	for _, name := range lengths {
		was, now, ok := means(base, cand, name)
		if !ok && base.has(name) {
			_, no := present(base, cand, name, false, old)
			return no
		}
		if !ok {
			continue
		}
		if change, err := metric.Change(was, now); err != nil || !(math.Abs(change) <= lengthTolerance) {
			what := strings.TrimSuffix(strings.TrimPrefix(name, "mean-"), "-tokens")
			short := ""
			if now < was {
				short = " (short " + what + ")"
			}
			accept := ""
			if !old.control() {
				accept = ": " + old.accept + " accepts them"
			}
			return refuse("find out why the lengths changed before comparing times"+accept,
				"workload changed: mean %s %.4g → %.4g tokens, %s%s, more than %s apart", what, was, now, signed(change), short, percent(lengthTolerance))
		}
	}
	if was, now, ok := means(base, cand, cachedShare); ok && !(now-was <= warmthTolerance) {
		return refuse("flush the cache, or record "+old.String()+" in the same state",
			"cache state differs: %s of the prompt tokens came from the cache in %s, %s here", percent(was), old, percent(now))
	}
	return nil
}

// means gives the metric's mean over the runs that have it, when both arms
// have some.
func means(base, cand Arm, name string) (old, now float64, ok bool) {
	old, oldOK := armMean(base, name)
	now, nowOK := armMean(cand, name)
	return old, now, oldOK && nowOK
}

func armMean(a Arm, name string) (float64, bool) {
	var sum float64
	n := 0
	for _, r := range a.Runs {
		if v, ok := r.Values[name]; ok {
			sum += v
			n++
		}
	}
	return sum / float64(n), n > 0
}

// has reports whether any run of the arm has the metric.
func (a Arm) has(name string) bool {
	return slices.ContainsFunc(a.Runs, func(r Run) bool { _, ok := r.Values[name]; return ok })
}

// all reports whether every run of the arm has the metric.
func (a Arm) all(name string) bool { return len(a.with(name).Runs) == len(a.Runs) }

// with is the arm's runs that have the metric.
func (a Arm) with(name string) Arm {
	a.Runs = slices.DeleteFunc(slices.Clone(a.Runs), func(r Run) bool { _, ok := r.Values[name]; return !ok })
	return a
}

// present checks that a metric can be compared: what is in one arm must be in
// the other. skip is true when it is in neither and need not be.
func present(base, cand Arm, name string, optional bool, old against) (skip bool, no *refusal) {
	inBase, inCand := base.has(name), cand.has(name)
	switch {
	case inBase && inCand:
		return false, nil
	case inBase:
		_, err := samples(cand, metricDef(name), 1)
		return false, refuse("find out why it is no longer measured; nothing was compared", "%s vanished: %s has it, here %v", name, old, err)
	case optional:
		return true, nil
	case inCand:
		_, err := samples(base, metricDef(name), 1)
		return false, refuse(old.renew("update the baseline: "), "%s is gated, but in %s %v", name, old, err)
	}
	_, err := samples(cand, metricDef(name), 1)
	return false, refuse("gate a metric that these runs have", "%s is gated, but %v", name, err)
}

func metricDef(name string) metric.Def {
	def, _ := metric.Lookup(name)
	return def
}

// accept is the command that makes the arm's runs the baseline.
func (a Arm) accept() string {
	if a.Accept != "" {
		return a.Accept
	}
	return updateCommand(a.Test)
}

// updateCommand is what accepts the runs of a test, as far as its name tells.
func updateCommand(test string) string {
	if test == "" {
		return "OPENLOOP_UPDATE=1 go test -count=1 ."
	}
	top, _, _ := strings.Cut(test, "/")
	return "OPENLOOP_UPDATE=1 go test -count=1 -run '^" + regexp.QuoteMeta(top) + "$' ."
}
