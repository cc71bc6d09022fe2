package doctor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// visit is one examination under way.
type visit struct {
	ctx    context.Context
	cfg    Config
	origin time.Time
	rng    *rand.Rand
	report *Report

	client *openai.Engine // asks without a model
	raw    *rawClient
	models []openai.Model
	model  openai.Model // the one examined
	form   form
	ids    idRange
	plain  *openai.Engine // asks for the model, knowing nothing of kinds
	// engine is what a test would measure, and warm the same where prompts are
	// taken from the cache; often they are one.
	engine, warm engines.Engine

	main    *generation // the stream that most is read from
	counted counterWatch
	// miscounted: what the server tells of tokens is wrong.
	miscounted bool
	sent       int // generations
	failed     int
	mishap     string // the first failure
	idleSeen   bool   // nothing of others ran when the visit began
	hit        bool   // the cache served a prompt that was sent again
	saltless   bool   // requests with a cache salt are refused
	other      string // the name of a kind that has no package here
	prompts    int32  // so far
	shift      int32  // where the first tokens of prompts begin
	closing    []func()
}

// form is how prompts are sent.
type form struct{ chat, text bool }

func newVisit(ctx context.Context, cfg Config, client *openai.Engine) *visit {
	v := &visit{
		ctx: ctx, cfg: cfg, origin: time.Now(), client: client,
		rng:    rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		report: &Report{URL: client.URL(), Findings: []Finding{}},
		ids:    wordIDs,
	}
	v.shift = v.rng.Int32N(wordIDs.n)
	v.raw = newRawClient(&v.cfg, client.URL())
	v.closing = append(v.closing, func() { _ = client.Close() }, v.raw.close)
	return v
}

func (v *visit) close() {
	for _, end := range v.closing {
		end()
	}
}

// say makes a finding.
func (v *visit) say(name string, status Status, remedy, format string, args ...any) {
	f := Finding{Name: name, Status: status, Seen: v.clean(fmt.Sprintf(format, args...)), Remedy: v.clean(remedy)}
	v.report.Findings = append(v.report.Findings, f)
	if v.cfg.Found != nil {
		v.cfg.Found(f)
	}
}

// clean is a text without secrets, on one line, and without what would act on
// a terminal: parts of it are the server's words.
func (v *visit) clean(s string) string {
	s = v.raw.secrets.Redact(s)
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "))
}

// words is an error in the server's and the client's words, without the
// address that the report has at its head.
func (v *visit) words(err error) string {
	return strings.NewReplacer(v.report.URL+": ", "", v.report.URL+" (Config.URL): ", "").Replace(err.Error())
}

// pause waits, unless the visit ends before.
func (v *visit) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-v.ctx.Done():
	}
}

// until asks again, with growing pauses, until the answer is true or the time
// is over.
func (v *visit) until(limit time.Duration, done func() bool) bool {
	end := time.Now().Add(limit)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		if done() {
			return true
		}
		if v.ctx.Err() != nil || !time.Now().Add(wait).Before(end) {
			return false
		}
		v.pause(wait)
	}
}

// classOf is the class of a failure; empty when it has none.
func classOf(err error) engines.Class {
	if failure := (*engines.Error)(nil); errors.As(err, &failure) {
		return failure.Class
	}
	return ""
}

// brief is a duration with three digits at most.
func brief(d time.Duration) time.Duration {
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Minute)
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
