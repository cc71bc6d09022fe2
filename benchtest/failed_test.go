package benchtest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines"
)

// The first request asks whether the engine is ready; 50 warm it up, 50 settle it
// and 100 are measured.
func TestFailuresBeforeTheWindow(t *testing.T) {
	broken := &engines.Error{Class: engines.Status, Status: 500, Message: "POST /v1/completions: 500: made up\nmore"}
	for _, row := range []struct {
		name  string
		fails func(n int) bool
		want  []metric.Problem
	}{
		{"all of the warmup", func(n int) bool { return n >= 1 && n <= 50 }, []metric.Problem{{Kind: kindErrors,
			Text: "none of 50 requests of the warmup succeeded; first failure: status: POST /v1/completions: 500: made up: find out why"}}},
		{"some of it", func(n int) bool { return n == 3 || n == 30 }, []metric.Problem{{Kind: kindErrors,
			Text: "2 of 50 requests of the warmup failed (4 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up: find out why, or raise Limits.ErrorRate"}}},
		{"one of it", func(n int) bool { return n == 3 }, nil},
		{"some of settle", func(n int) bool { return n > 60 && n <= 65 }, []metric.Problem{{Kind: kindErrors,
			Text: "5 of 50 requests of settle failed (10 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up: find out why, or raise Limits.ErrorRate"}}},
		{"settle and the window", func(n int) bool { return n > 60 }, []metric.Problem{
			{Kind: kindNoData, Text: "none of 100 requests of the window succeeded (first failure: status: POST /v1/completions: 500: made up\nmore)"},
			{Kind: kindErrors, Text: "100 of 100 requests failed (100 %), limit 1 %; first failure: status: POST /v1/completions: 500: made up\nmore: find out why, or raise Limits.ErrorRate"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := quick()
				engine.fails = func(n int, _ *engines.Request) error {
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
