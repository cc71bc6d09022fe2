package regressions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// namedChanges is how many changes of an engine a verdict names.
const namedChanges = 6

// changed says in what one arm's engine, its settings and what it runs on
// differ from the other's, since a slowdown may have been configured. Left out are the load
// generator's host, and what differs at every start: the port, and with it the
// command line, whose flags are among the settings.
func changed(base, cand Arm) string {
	was, now := ofEngine(base.Identity), ofEngine(cand.Identity)
	if len(was) == 0 || len(now) == 0 {
		return "" // not known of both
	}
	out := differences(was, now)
	if more := len(out) - namedChanges; more > 0 {
		out = append(out[:namedChanges], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

func ofEngine(pairs []metric.Pair) []metric.Pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(p metric.Pair) bool {
		switch p.Key {
		case "go", "openloop", "race-detector", "command", "setting-port", "setting-host":
			return true
		}
		return strings.HasPrefix(p.Key, "client-")
	})
}
