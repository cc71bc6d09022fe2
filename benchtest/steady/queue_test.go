package steady

import (
	"math/rand/v2"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// queue is a server that takes one request at a time, one of them a second on
// average: the smallest thing that has a queue. Work is its service times.
type queue struct {
	arrivals arrival.Process
	work     func(*rand.Rand) float64
}

func fixed(*rand.Rand) float64 { return 1 }

func exponential(r *rand.Rand) float64 { return r.ExpFloat64() }

// run offers settle requests, then a window of n, and stops there. A request
// that would end later is unfinished, as it would be in a run that ends with
// its window.
func (q queue) run(seed uint64, settle, n int) *metric.Record {
	r := rand.New(rand.NewPCG(seed, 99))
	record := &metric.Record{Schema: metric.Schema, Requests: make([]metric.Timeline, 0, settle+n)}
	var free time.Duration
	for due := range q.arrivals.Times(seed) {
		if len(record.Requests) == settle {
			record.From = due
		}
		if len(record.Requests) == settle+n {
			record.To = due
			break
		}
		work := q.work(r)
		free = max(free, due) + time.Duration(work*float64(time.Second))
		record.Requests = append(record.Requests, metric.Timeline{
			Scheduled: due, Sent: due, FirstToken: free, LastToken: free,
			// The output is as long as the work: 1,000 tokens a second.
			OutputTokens: int(1000 * work), AskedOutput: -1,
		})
	}
	for i := range record.Requests {
		if t := &record.Requests[i]; t.LastToken > record.To {
			t.Failure, t.FirstToken, t.LastToken, t.AskedOutput = metric.Unfinished, 0, 0, t.OutputTokens
		}
	}
	return record
}

// share is how often each state comes out of judging points of so many runs.
func (q queue) share(points, runs, settle, n int) (growing, sustained float64) {
	for i := range points {
		var records []*metric.Record
		for k := range runs {
			records = append(records, q.run(uint64(i*runs+k), settle, n))
		}
		v, err := JudgeRecords(records...)
		if err != nil {
			panic(err)
		}
		switch v.State {
		case Growing:
			growing += 1 / float64(points)
		case Sustained:
			sustained += 1 / float64(points)
		}
	}
	return growing, sustained
}
