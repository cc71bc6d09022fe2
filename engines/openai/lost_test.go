package openai

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
)

// What gaps lose is of the reads that brought an event together with what came
// after it, and of no others, however long their bytes lay here.
func TestWhatGapsMayHaveLost(t *testing.T) {
	const ms = time.Millisecond
	event := "data: " + usualEvent + "\n\n"
	together := arrival{lag: 3 * ms, most: 5 * ms, apart: 2 * ms}
	for _, tt := range []struct {
		name  string
		reads []string
		from  []arrival
		lost  []time.Duration
		lag   time.Duration
	}{
		{"each by itself, one of which lay for long", []string{event, event, event}, []arrival{together, {lag: 40 * ms, most: 60 * ms, apart: 20 * ms}, together},
			[]time.Duration{0, 0, 0}, 40 * ms},
		{"the last two together, and another lay for long", []string{event, event + event}, []arrival{{lag: 40 * ms, most: 60 * ms, apart: 20 * ms}, together},
			[]time.Duration{0, 0, 2 * ms}, 40 * ms},
		{"three together, and one more", []string{event + event + event, event}, []arrival{together, together},
			[]time.Duration{0, 2 * ms, 2 * ms, 0}, 5 * ms},
		{"with the beginning of the next, which ends much later", []string{event + event[:9], event[9:], event}, []arrival{together, {lag: ms, most: 7 * ms, apart: 6 * ms}, together},
			[]time.Duration{0, 2 * ms, 0}, 5 * ms},
		{"the next in three parts", []string{event + event[:9], event[9:20], event[20:]}, []arrival{together, {}, {}},
			[]time.Duration{0, 2 * ms}, 5 * ms},
		{"with a comment", []string{event + ": alive\n\n", event}, []arrival{together, together}, []time.Duration{0, 0}, 3 * ms},
		{"where the kernel gives no times nothing is known", []string{event + event, event}, []arrival{{}, {}}, []time.Duration{0, 0, 0}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lost []time.Duration
			c := streamingCall(t, func(c engines.Chunk) { lost = append(lost, c.Lost) })
			for i, b := range tt.reads {
				from := tt.from[i]
				from.at = elapsed()
				_, over := c.take([]byte(fmt.Sprintf("%x\r\n%s\r\n", len(b), b)), from)
				assert.False(t, over)
			}
			assert.Equal(t, tt.lost, lost)
			assert.Equal(t, tt.lag, c.attempt.reply.ReadLag)
		})
	}
}
