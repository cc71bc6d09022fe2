package benchtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnEngineIsMeasuredByOneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := real{quick()}
		p := usual()
		var logs []string
		done := make(chan *Runs)
		go func() {
			runs, err := Run(t.Context(), engine, p, Options{Test: "TestA"})
			assert.NoError(t, err)
			done <- runs
		}()
		time.Sleep(time.Second)
		runs, err := Run(t.Context(), engine, p, Options{Test: "TestB", Log: func(f string, a ...any) { logs = append(logs, fmt.Sprintf(f, a...)) }})
		require.NoError(t, err)
		first := <-done
		assert.Equal(t, "benchtest: waiting for the engine, which TestA measures", logs[0])
		assert.Equal(t, first.Records[0].StartID, runs.Records[0].StartID, "it is the same start")
		assert.LessOrEqual(t, engine.peak, 1, "never both at once")
		noContentTwice(t, engine.seen)
	})
}
