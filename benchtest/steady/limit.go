package steady

import (
	"strconv"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// limiting is the limit on the client's side that the queue of these runs of one
// point is of; 0 is none.
func limiting(records []*metric.Record) int {
	limit := 0
	for _, p := range records[0].Point {
		if p.Key == "client-limit" {
			limit, _ = strconv.Atoi(p.Value)
		}
	}
	back, all := 0, 0
	for _, r := range records {
		for _, t := range r.Counted() {
			all++
			if t.HeldBack() {
				back++
			}
		}
	}
	if limit <= 0 || back == 0 || 2*back < all {
		return 0
	}
	return limit
}
