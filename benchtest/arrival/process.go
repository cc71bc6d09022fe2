package arrival

import (
	"iter"
	"time"
)

// Process is an arrival process: it turns a seed into a schedule.
//
// The types of this package are processes. A process of your own may also
// have Validate() error, called before anything starts, and String() string,
// which names it in reports and is part of the point's identity.
type Process interface {
	// Times yields the absolute times of arrivals, from zero on and never
	// decreasing. The same seed yields the same times. The sequence has no
	// end, unless the process itself has one (a trace).
	Times(seed uint64) iter.Seq[time.Duration]
}
