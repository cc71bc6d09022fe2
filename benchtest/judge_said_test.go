package benchtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatWasSaidOfRequestsIsTold(t *testing.T) {
	for what, tt := range map[string]struct {
		says func(i int) []string
		want []string
	}{
		"nothing":     {func(int) []string { return nil }, nil},
		"of each":     {func(int) []string { return []string{"compressed"} }, []string{"100 of 100 requests: compressed"}},
		"twice of it": {func(i int) []string { return []string{"a", "b", "a"}[:3*(i%2)] }, []string{"50 of 100 requests: a", "50 of 100 requests: b"}},
		"seldom and often": {func(i int) []string {
			if i == 0 {
				return []string{"once", "always"}
			}
			return []string{"always"}
		}, []string{"100 of 100 requests: always", "1 of 100 requests: once"}},
		"another of each": {func(i int) []string { return []string{fmt.Sprintf("%02d events", i)} }, []string{
			"1 of 100 requests: 00 events", "1 of 100 requests: 01 events", "1 of 100 requests: 02 events", "1 of 100 requests: 03 events", "1 of 100 requests: 04 events",
			"requests have 95 further kinds of warnings: see Warnings of the record's requests",
		}},
	} {
		r := good()
		for i := range r.Requests {
			r.Requests[i].Warnings = tt.says(i)
		}
		problems, warnings := Judge(r, Point{})
		assert.Empty(t, problems, what)
		assert.Equal(t, tt.want, warnings, what)
	}
}
