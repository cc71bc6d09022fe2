package regressions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// lack is a metric that some runs do not have, for one reason.
type lack struct {
	metric, why string
	// runs are their places in the file, from 0.
	runs []int
}

// missing gathers what runs lack, in a fixed order.
func missing(runs []Run) []lack {
	var out []lack
	for i, r := range runs {
		for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
			at := slices.IndexFunc(out, func(l lack) bool { return l.metric == name && l.why == r.Missing[name] })
			if at < 0 {
				out = append(out, lack{metric: name, why: r.Missing[name]})
				at = len(out) - 1
			}
			out[at].runs = append(out[at].runs, i)
		}
	}
	slices.SortFunc(out, func(a, b lack) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.why, b.why))
	})
	return out
}

// ordinals writes increasing numbers as "0-3,7".
func ordinals(ns []int) string {
	var parts []string
	for i := 0; i < len(ns); {
		j := i
		for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
			j++
		}
		part := strconv.Itoa(ns[i])
		if j > i {
			part += "-" + strconv.Itoa(ns[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// parseOrdinals reads what ordinals wrote, below n and increasing.
func parseOrdinals(text string, n int) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			return nil, fmt.Errorf("runs=%s: %q is no number", text, from)
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(to); err != nil {
				return nil, fmt.Errorf("runs=%s: %q is no number", text, to)
			}
		}
		if a < 0 || b < a || b >= n || len(out) > 0 && a <= out[len(out)-1] {
			return nil, fmt.Errorf("runs=%s does not increase from 0 to at most %d", text, n-1)
		}
		for i := a; i <= b; i++ {
			out = append(out, i)
		}
	}
	return out, nil
}
