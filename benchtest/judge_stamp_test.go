package benchtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
)

// An event that was read by itself has its own time, however long it lay; one
// that was read together with a later one has not.
func TestHowLateEventsAreStamped(t *testing.T) {
	const usec = time.Microsecond
	for _, c := range []struct {
		name string
		lost func(i int) []time.Duration // of the i-th request of ten events
		want float64
	}{
		{"each by itself", func(int) []time.Duration { return nil }, 0},
		{"eight of 900 gaps are wrong", func(i int) []time.Duration {
			if i%25 == 0 {
				return []time.Duration{2000 * usec}
			}
			return nil
		}, 0},
		{"ten of 900", func(i int) []time.Duration {
			if i%20 == 0 {
				return []time.Duration{2000 * usec}
			}
			return nil
		}, 0.002},
		{"every request ends with two at once, of which one in fifty waited", func(i int) []time.Duration {
			if i%50 == 0 {
				return []time.Duration{20_000 * usec}
			}
			return []time.Duration{100 * usec}
		}, 0.0001},
		{"one in ten of them", func(i int) []time.Duration {
			if i%10 == 0 {
				return []time.Duration{20_000 * usec}
			}
			return []time.Duration{100 * usec}
		}, 0.02},
		{"all events share their times, and one of each request waited", func(i int) []time.Duration {
			return []time.Duration{50 * usec, 50 * usec, 50 * usec, 50 * usec, 1500 * usec, 50 * usec, 50 * usec, 50 * usec, 50 * usec}
		}, 0.0015},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			for i := range r.Requests {
				// The longest wait of a request, of whichever event, decides nothing.
				r.Requests[i].ReadLag, r.Requests[i].ZeroGaps = 40*time.Millisecond, len(c.lost(i))
				r.Requests[i].Lost = c.lost(i)
			}
			into := map[string]float64{}
			newJudge(r, usual()).readReadings(into)
			assert.Equal(t, map[string]float64{readLag: 0.04, readStamp: c.want}, into)
		})
	}
}

// Outputs that are longer have no later stamps: a server that sends its last two
// tokens at once loses one gap of each, and the longest of a hundred waits is of
// another event.
func TestLongOutputsAreNotStampedLater(t *testing.T) {
	for _, events := range []int{10, 100, 1000} {
		r := good()
		for i := range r.Requests {
			q := &r.Requests[i]
			q.Events, q.ZeroGaps, q.Lost = events, 1, []time.Duration{80 * time.Microsecond}
			q.ReadLag = time.Duration(events) * 15 * time.Microsecond
		}
		late := newJudge(r, usual()).stampedLate()
		assert.LessOrEqual(t, late, 80*time.Microsecond, "%d events", events)
	}
}

// What is lost between two token events is kept, whatever came between them, and
// what is lost before the first is of no gap.
func TestWhatIsLostOfGaps(t *testing.T) {
	const ms = time.Millisecond
	f := &flight{}
	for _, c := range []engines.Chunk{
		{At: 1 * ms}, {At: 1 * ms, Token: true, Lost: 9 * ms}, {At: 2 * ms, Token: true}, {At: 3 * ms, Token: true, Lost: 1 * ms},
		{At: 4 * ms, Lost: 2 * ms}, {At: 5 * ms, Token: true}, {At: 6 * ms, Token: true}, {At: 6 * ms, Lost: 3 * ms},
	} {
		f.emit(c)
	}
	assert.Equal(t, []time.Duration{1 * ms, 2 * ms}, f.line.Lost)
}
