package assert

import (
	"testing"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestRaced(t *testing.T) {
	for _, row := range []struct {
		name          string
		race, virtual bool
		want          bool
	}{
		{"built without -race, real clock", false, false, false},
		{"built without -race, virtual time", false, true, false},
		{"built with -race, real clock", true, false, true},
		{"built with -race, virtual time", true, true, false},
	} {
		g := gating{runs: &benchtest.Runs{Records: []*metric.Record{{Virtual: row.virtual}}}}
		if _, raced := g.raced(row.race); raced != row.want {
			t.Errorf("%s: got %v, want %v", row.name, raced, row.want)
		}
	}
}
