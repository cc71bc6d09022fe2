// Package enginetest is the conformance suite that every engine passes, in
// the manner of testing/fstest and testing/slogtest: one function that checks
// an engine against the contract of package engines and returns everything
// that is wrong with it.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/openloop-go/openloop/engines"
)

// Options fit the suite to an engine. The zero value suits an engine that
// takes token ids and can generate outputs of exactly the length asked.
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
	// Prompts returns prompt i, n tokens long, as ids or as text. Nil draws
	// ids from 1,000 to 29,999, or short English words with Text.
	Prompts func(i, n int) ([]int32, string)
	// InexactLength allows outputs shorter than asked, for engines that
	// cannot ignore an end of sequence.
	InexactLength bool
	// Restart lets the suite restart an engine that can be restarted.
	Restart bool
	// Patience bounds the wait for what must come promptly: the return after
	// a cancellation, an idle queue, counters that have caught up. Zero is
	// 10 s.
	Patience time.Duration
}

// Test checks that an engine keeps the contract of package engines: streams
// of the length asked, ordered stamps, counts that are right or unknown,
// concurrency, cancellation, typed failures, and each ability that it has. It
// returns everything that is wrong, joined, each beginning with the rule that
// is broken; nil is a pass. It takes some dozens of short generations and
// must be the engine's only user.
func Test(ctx context.Context, engine engines.Engine, o Options) error {
	s := newSuite(ctx, engine, o)
	for _, check := range []func(){
		s.one, s.long, s.concurrent, s.clockless, s.canceled, s.misused, s.slow,
		s.describe, s.load, s.scrape, s.flush, s.compiles, s.devices, s.hold, s.restart, s.simulate, s.prepare, s.quiet,
	} {
		if err := ctx.Err(); err != nil {
			s.wrong("suite", "stopped before its end: %v", context.Cause(ctx))
			break
		}
		check()
	}
	return errors.Join(s.findings()...)
}

// suite is one run of Test.
type suite struct {
	ctx    context.Context
	engine engines.Engine
	o      Options
	origin time.Time
	model  string // of the replies

	mu       sync.Mutex
	requests int
	watches  []*watch
	rules    []string
	found    map[string][]error
}

func newSuite(ctx context.Context, engine engines.Engine, o Options) *suite {
	set := func(field *int, to int) {
		if *field == 0 {
			*field = to
		}
	}
	set(&o.Output, 16)
	set(&o.Prompt, 32)
	set(&o.LongPrompt, 1024)
	set(&o.Concurrent, 8)
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Prompts == nil {
		o.Prompts = ids
		if o.Text {
			o.Prompts = words
		}
	}
	return &suite{ctx: ctx, engine: engine, o: o, origin: time.Now(), found: map[string][]error{}}
}

// ids draws a prompt of token ids that real vocabularies have.
func ids(i, n int) ([]int32, string) {
	r := rand.New(rand.NewPCG(uint64(i), 0))
	tokens := make([]int32, n)
	for j := range tokens {
		tokens[j] = 1000 + r.Int32N(29000)
	}
	return tokens, ""
}

// words draws a prompt of about n tokens of text.
func words(i, n int) ([]int32, string) {
	common := strings.Fields("the of and to in is it you that he was for on are with as his they be at one have this from or had by word but what")
	r := rand.New(rand.NewPCG(uint64(i), 0))
	text := make([]string, n)
	for j := range text {
		text[j] = common[r.IntN(len(common))]
	}
	return nil, strings.Join(text, " ")
}

// request makes the next request, with prompt and output of given lengths.
func (s *suite) request(prompt, output int) *engines.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	tokens, text := s.o.Prompts(s.requests, prompt)
	return &engines.Request{
		ID: fmt.Sprintf("enginetest-%06d", s.requests), Tokens: tokens, Text: text,
		MaxTokens: output, MinTokens: output, IgnoreEOS: true, Stamp: s.stamp,
	}
}

// stamp is the suite's clock. It never shows zero, which means "never".
func (s *suite) stamp() time.Duration { return time.Since(s.origin) + time.Millisecond }

// wrong notes a broken rule.
func (s *suite) wrong(rule, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found[rule] == nil {
		s.rules = append(s.rules, rule)
	}
	s.found[rule] = append(s.found[rule], fmt.Errorf("%s: %s", rule, fmt.Sprintf(format, args...)))
}

// shown is how many findings of one rule are shown.
const shown = 3

func (s *suite) findings() []error {
	var all []error
	for _, rule := range s.rules {
		found := s.found[rule]
		if more := len(found) - shown; more > 0 {
			found = append(found[:shown:shown], fmt.Errorf("%s: and %d more", rule, more))
		}
		all = append(all, found...)
	}
	return all
}

// wait waits for a time, less when the context ends.
func (s *suite) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
}

// eventually asks a question until the answer is yes or patience ends.
func (s *suite) eventually(yes func() bool) bool {
	for end := time.Now().Add(s.o.Patience); ; s.wait(50 * time.Millisecond) {
		if yes() {
			return true
		}
		if s.ctx.Err() != nil || !time.Now().Before(end) {
			return false
		}
	}
}
