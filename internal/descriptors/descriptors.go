// Package descriptors knows how many descriptors this process may have open, and
// says it where they are too few.
package descriptors

import "fmt"

// Spare is how many are left to the rest of a process: records, counters, the
// runtime.
const Spare = 32

// Own is how many descriptors this process may have open, and how many are. 0 is
// unknown of either.
func Own() (limit, open int) {
	if limit = Limit(); limit == 0 {
		return 0, 0
	}
	return limit, opened(limit)
}

// Limited says what the limit is and how to raise it. It goes on from "and".
func Limited(limit int) string {
	return fmt.Sprintf("the limit (RLIMIT_NOFILE) is %d: raise it with ulimit -n, as LimitNOFILE or --ulimit nofile", limit)
}

// Need is what something takes of a process.
type Need struct {
	// What needs them, in the plural.
	What string
	// More is how many it needs.
	More int
	// Open are those that are open for other things; 0 is not known, and not said.
	Open int
	// Else are for what the process opens besides. 0 is Spare.
	Else int
}

// Beyond says that the limit does not hold the need, with both and what to do;
// empty where it does, or where the limit is 0: unknown.
func (n Need) Beyond(limit int) string {
	if n.Else == 0 {
		n.Else = Spare
	}
	all := n.Open + n.More + n.Else
	if limit == 0 || all <= limit {
		return ""
	}
	others := fmt.Sprintf("%d for all else", n.Else)
	if n.Open > 0 {
		others = fmt.Sprintf("%d that are open and %s", n.Open, others)
	}
	return fmt.Sprintf("%s need %d descriptors, with %s, and %s", n.What, all, others, Limited(limit))
}
