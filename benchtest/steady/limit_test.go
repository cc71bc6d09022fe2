package steady

import (
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// A queue is a limit's on the client's side where that held back half of the
// requests or more.
func TestWhatAGrowingQueueIsOver(t *testing.T) {
	const engine, here = "50 % over capacity for 3m20s", "50 % over what 4 in flight come to for 3m20s"
	for _, row := range []struct {
		name  string
		limit string // empty is none
		from  int    // the requests from this one on are held back
		want  string
	}{
		{"no limit", "", 200, engine},
		{"a limit that holds none back", "4", 200, engine},
		{"one", "4", 199, engine},
		{"fewer than half", "4", 101, engine},
		{"half", "4", 100, here},
		{"all", "4", 0, here},
	} {
		r := &metric.Record{From: 0, To: 200 * time.Second}
		if row.limit != "" {
			r.Point = []metric.Pair{{Key: "client-limit", Value: row.limit}}
		}
		for i := range 200 {
			q := served(float64(i), 1.5*float64(i)+1)
			if i >= row.from {
				q.Released = q.Scheduled + time.Millisecond
			}
			r.Requests = append(r.Requests, q)
		}
		v, err := JudgeRecords(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(v.String(), row.want) {
			t.Errorf("%s: %s, want %s", row.name, v, row.want)
		}
	}
}
