package benchtest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestQuiesce(t *testing.T) {
	load := func(running, waiting int) engines.Load {
		return engines.Load{Running: engines.Known(running), Waiting: engines.Known(waiting)}
	}
	for _, c := range []struct {
		name     string
		load     func(n int) (engines.Load, error)
		problems []string
		warnings int
	}{
		{"idle after a while", func(n int) (engines.Load, error) { return load(max(0, 3-n), 0), nil }, []string{}, 0},
		{"busy for ever", func(int) (engines.Load, error) { return load(2, 5), nil }, []string{kindNotIdle}, 0},
		{"running unknown", func(int) (engines.Load, error) { return engines.Load{Waiting: engines.Known(0)}, nil }, []string{}, 1},
		{"cannot be read", func(int) (engines.Load, error) { return engines.Load{}, errors.New("404") }, []string{}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := struct {
					*script
					*loader
				}{quick(), &loader{load: c.load}}
				r := one(t, engine, usual())
				assert.Equal(t, c.problems, kinds(r))
				assert.Len(t, r.Warnings, c.warnings)
			})
		})
	}
}

func TestPhasesThatAreTooShort(t *testing.T) {
	slow := func() *script { return &script{first: 3 * time.Second} }
	t.Run("three mean durations", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Workload, p.Requests = prompts{16, 1}, 20
			r := one(t, slow(), p) // 50 arrivals at 10/s are 5 s
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Settle of 50 requests is too short: it took 5s, and three mean request durations are 9s: set Point.Settle to 90 or more", r.Problems[0].Text)
			p.Settle = 90
			assert.Empty(t, one(t, slow(), p).Problems, "the value named is enough")
		})
	})
	t.Run("a warmup with no settle after it", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Workload, p.Requests, p.Settle = prompts{16, 1}, 20, -1
			r := one(t, slow(), p)
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Warmup of 50 requests is too short: it took 5s, and three mean request durations are 9s: set Point.Warmup to 90 or more", r.Problems[0].Text)
			p.Warmup = 90
			r = one(t, slow(), p)
			assert.Empty(t, r.Problems)
			assert.Equal(t, []string{"no settle: the window begins with an empty queue and measures how it fills"}, r.Warnings[len(r.Warnings)-1:])
		})
	})
	t.Run("relaxation", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Requests, p.Capacity = 1000, 11
			r := one(t, quick(), p)
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Settle of 100 requests is too short: at 91 % of Point.Capacity a queue takes 300 arrivals to settle: set Point.Settle to 300 or more", r.Problems[0].Text)
			p.Settle = 300
			assert.Empty(t, one(t, quick(), p).Problems)
		})
	})
	t.Run("fewer than three turns of a closed loop", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			p := usual()
			p.Arrivals, p.Closed.InFlight, p.Settle = nil, 20, 40
			r := one(t, quick(), p)
			require.Equal(t, []string{kindTooShort}, kinds(r))
			assert.Equal(t, "Settle of 40 requests is too short: three turns of 20 in flight: set Point.Settle to 60 or more", r.Problems[0].Text)
			p.Settle = 60
			assert.Empty(t, one(t, quick(), p).Problems)
		})
	})
}
