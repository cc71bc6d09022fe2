// Package enginetest is the conformance suite that every engine passes, in
// the manner of testing/fstest.
package enginetest

import (
	"context"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// Options fit the suite to an engine. The zero value suits an engine that
// takes token ids.
type Options struct {
	// Text prompts with text instead of token ids, for chat routes.
	Text bool
	// Output is the number of tokens to generate. Zero is 16.
	Output int
	// Prompt and LongPrompt are the lengths of prompts in tokens. Zero is 32
	// and 1,024.
	Prompt, LongPrompt int
	// Concurrent is the number of generations at once. Zero is 8.
	Concurrent int
	// Prompts returns prompt i of n tokens. Nil draws ids from 1,000 to
	// 29,999, or short English words with Text.
	Prompts func(i, n int) ([]int32, string)
	// InexactLength allows outputs shorter than asked, for engines that
	// cannot ignore an end of sequence.
	InexactLength bool
	// Restart allows the suite to restart the engine.
	Restart bool
	// Patience bounds the wait for what must come promptly: the return after
	// a cancellation, an idle queue. Zero is 10 s.
	Patience time.Duration
}

// Test checks that an engine keeps the contract of package engines and
// returns everything that it found wrong, joined.
func Test(ctx context.Context, engine engines.Engine, o Options) error { panic("not yet") }
