package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// The first request asks whether the engine is ready; 50 warm it up, 50 settle it
// and 100 are measured, of which the last takes two seconds, so that 20 cool down.
func TestFailuresAroundTheWindow(t *testing.T) {
	broken := &engines.Error{Class: engines.Status, Status: 500, Message: "POST /v1/completions: 500: made up\nmore"}
	for _, row := range []struct {
		name  string
		fails func(n int) bool
		want  []metric.Problem
	}{
		{"all of the warmup", func(n int) bool { return n >= 1 && n <= 50 }, []metric.Problem{{Kind: kindErrors,
			Text: "none of 50 requests of the warmup succeeded; first failure: status: POST /v1/completions: 500: made up: find out why"}}},
		{"some of it", func(n int) bool { return n > 30 && n <= 35 }, []metric.Problem{{Kind: kindErrors,
			Text: "5 of 50 requests of the warmup failed (10 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up: find out why, or raise Limits.ErrorRate"}}},
		{"as many of it as chance may bring", func(n int) bool { return n > 30 && n <= 33 }, nil},
		{"some of settle", func(n int) bool { return n > 60 && n <= 65 }, []metric.Problem{{Kind: kindErrors,
			Text: "5 of 50 requests of settle failed (10 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up: find out why, or raise Limits.ErrorRate"}}},
		{"settle and the window", func(n int) bool { return n > 60 }, []metric.Problem{
			{Kind: kindNoData, Text: "none of 100 requests of the window succeeded (first failure: status: POST /v1/completions: 500: made up)"},
			{Kind: kindErrors, Text: "100 of 100 requests failed (100 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up: find out why, or raise Limits.ErrorRate"}}},
		{"all of the cooldown", func(n int) bool { return n > 200 }, []metric.Problem{{Kind: kindErrors,
			Text: "none of 20 requests of the cooldown succeeded; first failure: status: POST /v1/completions: 500: made up: find out why"}}},
		{"some of it", func(n int) bool { return n > 216 }, []metric.Problem{{Kind: kindErrors,
			Text: "4 of 20 requests of the cooldown failed (20 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up: find out why, or raise Limits.ErrorRate"}}},
		{"as many of it as chance may bring", func(n int) bool { return n > 217 }, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := quick()
				engine.fails = func(n int, _ *engines.Request) error {
					if n == 200 && !row.fails(n) {
						time.Sleep(2 * time.Second)
					}
					if row.fails(n) {
						return broken
					}
					return nil
				}
				assert.Equal(t, row.want, one(t, engine, usual()).Problems)
			})
		})
	}
}

// By tables of the binomial distribution.
func TestTail(t *testing.T) {
	for _, row := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{50, 0, 0.01, 1}, {50, 1, 0.01, 0.39499}, {50, 2, 0.01, 0.08944}, {50, 4, 0.01, 0.00160}, {50, 5, 0.01, 0.00015},
		{1, 1, 0.01, 0.01}, {10, 10, 0.5, 0.00098}, {5, 1, 0, 0}, {5, 5, 1, 1},
	} {
		assert.InDelta(t, row.want, tail(row.n, row.k, row.p), 0.000005, "%+v", row)
	}
}
