package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// An event that was read by itself has its own time, however long it lay; one
// that was read together with a later one has not.
func TestHowLateEventsAreStamped(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared int // zero gaps of each request of ten events
		every  int // of so many requests
		want   float64
	}{
		{"each by itself", 0, 1, 0},
		{"one event in two hundred with another: one gap in a hundred is wrong", 1, 20, 0},
		{"one event in a hundred", 1, 10, 0.002},
		{"all of them", 9, 1, 0.002},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			for i := range r.Requests {
				r.Requests[i].ReadLag = 2 * time.Millisecond
				if i%c.every == 0 {
					r.Requests[i].ZeroGaps = c.shared
				}
			}
			into := map[string]float64{}
			newJudge(r, usual()).readReadings(into)
			assert.Equal(t, map[string]float64{readLag: 0.002, readStamp: c.want}, into)
		})
	}
}

// Servers that send several tokens at once, and a wait here or there, are no late
// stamps; where waits put events together, the requests that have them are those
// that waited.
func TestWhichWaitsAreOfEventsThatShareATime(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(i int, q *metric.Timeline)
		want time.Duration
	}{
		{"every request ends with two at once, and one in five waited", func(i int, q *metric.Timeline) {
			if q.ZeroGaps = 1; i%5 == 0 {
				q.ReadLag = 20 * time.Millisecond
			}
		}, 100 * time.Microsecond},
		{"one request in twelve lost a gap to a wait", func(i int, q *metric.Timeline) {
			if i%12 == 0 {
				q.ZeroGaps, q.ReadLag = 1, 20*time.Millisecond
			}
		}, 20 * time.Millisecond},
		{"most events share a time, and bytes waited in most requests", func(i int, q *metric.Timeline) {
			if q.ZeroGaps = 6; i%5 > 0 {
				q.ReadLag = 20 * time.Millisecond
			}
		}, 20 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			for i := range r.Requests {
				r.Requests[i].ReadLag = 100 * time.Microsecond
				c.edit(i, &r.Requests[i])
			}
			assert.Equal(t, c.want, newJudge(r, usual()).stampedLate())
		})
	}
}
