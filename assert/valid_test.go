package assert_test

import (
	"testing"

	"github.com/openloop-go/openloop/assert"
	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
)

func TestValidPassesAndSaysOnWhat(t *testing.T) {
	runs := calm.runs(3)
	runs.Records[1].Warnings = []string{"the engine gives no cached tokens"}
	var r recorder
	expect(t, &r, assert.Valid(&r, runs), true, `log: valid: 3 runs
    run 2      warning: the engine gives no cached tokens
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
`)
}

func TestWhatIsNotThereIsNotValid(t *testing.T) {
	for _, row := range []struct {
		name string
		runs *benchtest.Runs
		text string
	}{
		{"no runs at all", nil, "error: no runs: nothing was measured, so nothing holds\n"},
		{"an empty list", &benchtest.Runs{}, "error: no runs: nothing was measured, so nothing holds\n"},
		{"a run without a record", &benchtest.Runs{Records: []*metric.Record{calm.record(0), nil}},
			"error: assert: Records[1] is nil: a run without a record cannot be judged\n"},
		{"an empty window", load{n: 0, rate: 10}.runs(1), `error: no requests: run 1 has none in its window that were not aborted, so nothing holds
    at         even 10/s, chat(100/11), 1 run of 0 requests
`},
		{"a window that the user aborted", load{n: 2, rate: 10, each: failing(metric.Aborted, func(int) bool { return true })}.runs(1),
			`error: no requests: run 1 has none in its window that were not aborted, so nothing holds
    at         even 10/s, chat(100/11), 1 run of 2 requests
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, assert.Valid(&r, row.runs), false, row.text)
		})
	}
}

func TestRunsOfTwoPointsAreNotMixed(t *testing.T) {
	runs := calm.runs(2)
	runs.Records[1].PointHash, runs.Records[1].PointName = "ffff", "other"
	var r recorder
	expect(t, &r, assert.Valid(&r, runs), false,
		"error: assert: runs of different points: Records[1] is of other, Records[0] of even-10; judge each point by itself\n")
}

func spoiled() *benchtest.Runs {
	runs := calm.runs(3)
	lagged := metric.Problem{Kind: "client-limited", Text: "p99 of the lag is 12ms, at most 5ms may be: run the client on a quieter host"}
	runs.Records[0].Problems = []metric.Problem{lagged}
	runs.Records[2].Problems = []metric.Problem{lagged, {Kind: "errors", Text: "3.0 % of 1,000 requests failed, at most 1.0 % may: see the server's log"}}
	return runs
}

const spoiledText = `error: invalid: 2 of 3 runs cannot be trusted, so nothing is judged
    runs 1,3   client-limited: p99 of the lag is 12ms, at most 5ms may be: run the client on a quieter host
    run 3      errors: 3.0 % of 1,000 requests failed, at most 1.0 % may: see the server's log
    at         even 10/s, chat(100/11), 3 runs of 1,000 requests
    message    `

// Every assertion fails on runs that cannot be trusted, with the reasons.
func TestInvalidRunsFailEveryAssertion(t *testing.T) {
	for name, judge := range every {
		t.Run(name, func(t *testing.T) {
			var r recorder
			expect(t, &r, judge(&r, spoiled(), "build %s", "a1"), false, spoiledText+"build a1\n")
		})
	}
}

// No assertion passes when there is nothing.
func TestNoRunsFailEveryAssertion(t *testing.T) {
	for name, judge := range every {
		t.Run(name, func(t *testing.T) {
			var r recorder
			expect(t, &r, judge(&r, nil), false, "error: no runs: nothing was measured, so nothing holds\n")
		})
	}
}

func TestMessagesAreThoseOfTestify(t *testing.T) {
	for _, row := range []struct {
		name string
		args []any
		want string
	}{
		{"none", nil, ""},
		{"a string is no format", []any{"100%"}, "    message    100%\n"},
		{"a value", []any{struct{ A int }{1}}, "    message    {A:1}\n"},
		{"a format", []any{"build %d of %s", 7, "main"}, "    message    build 7 of main\n"},
		{"values without a format", []any{1, 2}, "    message    1 2\n"},
		{"several lines", []any{"one\ntwo"}, "    message    one\n               two\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var r recorder
			expect(t, &r, assert.Valid(&r, nil, row.args...), false, "error: no runs: nothing was measured, so nothing holds\n"+row.want)
		})
	}
}

// A t that can do no more than fail is enough.
type bare struct{ errors int }

func (b *bare) Errorf(string, ...any) { b.errors++ }

func TestErrorfIsEnough(t *testing.T) {
	var b bare
	if assert.Valid(&b, nil) || b.errors != 1 {
		t.Errorf("%d errors, want 1 and false", b.errors)
	}
}
