package regressions_test

import (
	"testing"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/regressions"
	"github.com/stretchr/testify/assert"
)

// A verdict names what was configured differently, and neither the port nor
// the machine that offered the load.
func TestVerdictNamesWhatChanged(t *testing.T) {
	identity := func(a regressions.Arm, version, seqs, port, cpu string) regressions.Arm {
		a.Identity = []metric.Pair{
			{Key: "engine-version", Value: version}, {Key: "command", Value: "vllm serve --port " + port},
			{Key: "setting-max-num-seqs", Value: seqs}, {Key: "setting-port", Value: port}, {Key: "client-cpu", Value: cpu},
		}
		return a
	}
	for _, row := range []struct{ name, version, seqs, want string }{
		{"nothing that matters", "0.31.0", "64", ""},
		{"the version", "0.32.0", "64", `changed    engine-version "0.31.0" → "0.32.0"`},
		{"both", "0.32.0", "32", `changed    engine-version "0.31.0" → "0.32.0", setting-max-num-seqs "64" → "32"`},
	} {
		base := stored(identity(shaped(12, 2, 0.009, 1, 1), "0.31.0", "64", "4001", "EPYC"))
		v := regressions.Judge(base, latest(identity(shaped(3, 1, 0.009, 1.1, 1), row.version, row.seqs, "4002", "Xeon")), regressions.Gate{})
		assert.Equal(t, regressions.Regressed, v.Status, row.name)
		if row.want == "" {
			assert.NotContains(t, v.Text(), "changed", row.name)
		} else {
			assert.Contains(t, v.Text(), row.want+"\n", row.name)
		}
	}
}

// Two builds that were measured in turns differ in their ports, and that is no
// difference of theirs.
func TestBuildsAreAlikeWhateverTheirPorts(t *testing.T) {
	on := func(a regressions.Arm, port string) regressions.Arm {
		a.Identity = []metric.Pair{{Key: "engine-version", Value: "0.32.0"}, {Key: "command", Value: "vllm serve --port " + port}}
		return a
	}
	v := regressions.JudgeBoth(on(shaped(5, 5, 0.009, 1, 1), "4001"), on(shaped(5, 5, 0.009, 1, 1), "4002"), regressions.Gate{})
	assert.Contains(t, v.Text(), "builds     alike in all that is recorded of them\n")
}
