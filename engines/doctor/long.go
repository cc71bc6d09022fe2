package doctor

import (
	"context"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// long is a stream that goes on in a goroutine of its own.
type long struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when Generate has returned
	err    error         // then set
	began  time.Time
	whole  time.Duration // what it would take by the main stream's pace
}

// firstPatience is how long the first token of a long stream is waited for: it
// may be held back until the last.
const firstPatience = 2 * time.Second

// startLong starts a stream, and returns with its first token or its end, or
// when neither has come for long.
func (v *visit) startLong(output int) *long {
	ctx, cancel := context.WithCancel(v.ctx)
	l := &long{cancel: cancel, done: make(chan struct{}), began: time.Now()}
	_, whole := v.main.span()
	l.whole = whole * time.Duration(output) / outputTokens
	v.sent++
	var once sync.Once
	first := make(chan struct{})
	r := v.request(v.fit(promptTokens, outputTokens), output)
	go func() {
		defer close(l.done)
		_, l.err = v.engine.Generate(ctx, r, func(c engines.Chunk) {
			if c.Token {
				once.Do(func() { close(first) })
			}
		})
	}()
	patience := time.NewTimer(firstPatience)
	defer patience.Stop()
	select {
	case <-first:
	case <-l.done:
	case <-patience.C:
	case <-v.ctx.Done():
	}
	return l
}

// over reports that the stream has ended by itself, and its failure.
func (l *long) over() (bool, error) {
	select {
	case <-l.done:
		return true, l.err
	default:
		return false, nil
	}
}

// left is how long it would still have taken.
func (l *long) left() time.Duration { return l.whole - time.Since(l.began) }

// stop drops the stream and waits until the client has let go of it.
func (l *long) stop() {
	l.cancel()
	<-l.done
}
