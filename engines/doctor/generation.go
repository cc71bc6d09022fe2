package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// What is sent. A prompt for the cache is several blocks long wherever blocks
// have at most 128 tokens; a larger one is tried where that shows nothing.
const (
	promptTokens = 64
	outputTokens = 32
	cachePrompt  = 320
	largePrompt  = 1280
	longOutput   = 2048
	// fewTokens is an output that is only to be there: few tokens, but not so
	// few that none of them has a text.
	fewTokens = 8
)

// idRange is where token ids of prompts are taken from.
type idRange struct{ first, n int32 }

var (
	// wordIDs are ordinary tokens in the usual vocabularies, below those that
	// workloads take, so that nothing of theirs is warmed.
	wordIDs = idRange{400, 600}
	// fewIDs are for a model with a small vocabulary.
	fewIDs = idRange{10, 90}
)

// generation is one generation and what came of it.
type generation struct {
	request *engines.Request
	reply   engines.Reply
	err     error
	chunks  []engines.Chunk
	tokens  int // token events
}

// request is a prompt that was never sent before and an output of a length.
func (v *visit) request(prompt, output int) *engines.Request {
	r := &engines.Request{
		ID: fmt.Sprintf("openloop-doctor-%016x", v.rng.Uint64()), MaxTokens: output, MinTokens: output, IgnoreEOS: true,
		Stamp: func() time.Duration { return time.Since(v.origin) },
	}
	if v.form.text || v.form.chat {
		var b strings.Builder
		for b.Len() < 4*prompt { // about four characters a token
			fmt.Fprintf(&b, "%s ", word(v.rng.Uint32()))
		}
		r.Text = strings.TrimSpace(b.String())
		return r
	}
	r.Tokens = make([]int32, prompt)
	for i := range r.Tokens {
		r.Tokens[i] = v.ids.first + v.rng.Int32N(v.ids.n)
	}
	// Where blocks have one token, as SGLang's have, prompts that begin with the
	// same one share it.
	r.Tokens[0] = v.ids.first + (v.shift+v.prompts)%v.ids.n
	v.prompts++
	return r
}

// word is a word of four letters.
func word(n uint32) string {
	b := make([]byte, 4)
	for i := range b {
		b[i] = byte('a' + n%26)
		n /= 26
	}
	return string(b)
}

// again is the same prompt as another request.
func (v *visit) again(r *engines.Request) *engines.Request {
	next := *r
	next.ID = fmt.Sprintf("openloop-doctor-%016x", v.rng.Uint64())
	return &next
}

var errImpatient = errors.New("it took too long")

// generate makes one generation and keeps count of failures.
func (v *visit) generate(e engines.Engine, r *engines.Request) *generation {
	g := v.attempt(e, r)
	v.count(g)
	return g
}

// fresh makes a generation with a new prompt, and with others where the model
// said nothing that can be shown: prompts of chance make models stutter.
func (v *visit) fresh(e engines.Engine, prompt, output int) *generation {
	g := v.attempt(e, v.request(prompt, output))
	for i := 0; i < 2 && classOf(g.err) == engines.NoToken; i++ {
		g = v.attempt(e, v.request(prompt, output))
	}
	v.count(g)
	return g
}

func (v *visit) count(g *generation) {
	if g.err != nil && classOf(g.err) != engines.NoToken {
		v.fail(g.err)
	}
}

// fail counts a failure.
func (v *visit) fail(err error) {
	if v.ctx.Err() != nil {
		return
	}
	if v.failed++; v.mishap == "" {
		v.mishap = v.words(err)
	}
}

// attempt makes one generation, which may fail. One that was sent over a
// connection that the server had just closed is made again: that is the
// client's mishap.
func (v *visit) attempt(e engines.Engine, r *engines.Request) *generation {
	g := v.once(e, r)
	if classOf(g.err) == engines.Stale {
		g = v.once(e, r)
	}
	return g
}

func (v *visit) once(e engines.Engine, r *engines.Request) *generation {
	v.sent++
	g := &generation{request: r}
	ctx, cancel := context.WithTimeoutCause(v.ctx, v.cfg.Patience, errImpatient)
	defer cancel()
	g.reply, g.err = e.Generate(ctx, r, func(c engines.Chunk) {
		g.chunks = append(g.chunks, c)
		if c.Token {
			g.tokens++
		}
	})
	if g.err != nil && context.Cause(ctx) == errImpatient {
		g.err = fmt.Errorf("not finished after %v: %w", v.cfg.Patience, g.err)
	}
	return g
}

// firstToken is the time from sending to the first token event, and whole to
// the last.
func (g *generation) span() (firstToken, whole time.Duration) {
	for _, c := range g.chunks {
		if !c.Token {
			continue
		}
		if firstToken == 0 {
			firstToken = c.At - g.reply.Sent
		}
		whole = c.At - g.reply.Sent
	}
	return firstToken, whole
}
