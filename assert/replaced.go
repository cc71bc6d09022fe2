package assert

import "github.com/openloop-go/openloop/benchtest"

// replaced tells of the runs that were made again, and why: that they were set
// aside is told with every verdict, whatever it is.
func (r *report) replaced(runs *benchtest.Runs) {
	tell := func(arm string, runs *benchtest.Runs) {
		for _, record := range runs.Replaced {
			why := "it could not be trusted"
			if len(record.Problems) > 0 {
				why = record.Problems[0].Kind + ": " + record.Problems[0].Text
			}
			r.add("made again", "%srun %d, whose first try is set aside: %s", arm, record.Run+1, why)
		}
	}
	tell("", runs)
	if runs.Control != nil {
		tell("control ", runs.Control)
	}
}
