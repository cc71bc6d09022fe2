package assert_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/engines"
)

// toy is an engine that computes: it serves every request at once, with the
// same TTFT and TPOT but for the noise of each pass. Passes are what differs
// between runs, so a gate sees only what a test has put there.
type toy struct {
	slow     float64 // factor on all times; 0 is 1
	noise    float64 // coefficient of variation between passes
	seed     uint64
	hardware string
	// drown makes a request wait as long as in a queue that from the hundredth
	// on grows by this many requests an arrival.
	drown float64
	// service makes it a single server with this service time.
	service time.Duration
	// broken is what a restart comes to; failing is a pass whose every request
	// fails.
	broken  error
	failing int

	passes, starts int
}

func (e *toy) VirtualTime() bool { return true }

func (e *toy) Generate(context.Context, *engines.Request, func(engines.Chunk)) (engines.Reply, error) {
	return engines.Reply{}, errors.New("a toy only computes")
}

func (e *toy) Describe(context.Context) (engines.Identity, error) {
	return engines.Identity{Engine: "toy", Version: "1", Model: "m", Hardware: cmp.Or(e.hardware, "1x toy")}, nil
}

func (e *toy) Restart(context.Context) error { e.starts++; return e.broken }

// pass is the factor of one pass, the same for the same seed, start and pass.
func (e *toy) pass() float64 {
	e.passes++
	rng := rand.New(rand.NewPCG(e.seed, uint64(e.passes)))
	return cmp.Or(e.slow, 1) * math.Exp(e.noise*rng.NormFloat64())
}

func (e *toy) Simulate(arrivals iter.Seq[engines.Arrival], done func(engines.Outcome)) {
	var flying []engines.Outcome
	until := func(t time.Duration) {
		slices.SortStableFunc(flying, func(a, b engines.Outcome) int { return cmp.Compare(a.Reply.Closed, b.Reply.Closed) })
		for len(flying) > 0 && flying[0].Reply.Closed <= t {
			o := flying[0]
			flying = flying[1:]
			done(o)
		}
	}
	factor, n, gap, free := e.pass(), 0, time.Duration(0), time.Duration(0)
	for a := range arrivals {
		if a.Request == nil {
			switch {
			case a.At == 0 && len(flying) > 0:
				until(slices.MinFunc(flying, func(a, b engines.Outcome) int { return cmp.Compare(a.Reply.Closed, b.Reply.Closed) }).Reply.Closed)
			default:
				until(a.At)
			}
			continue
		}
		until(a.At)
		gap = a.At / time.Duration(n+1)
		wait := time.Duration(e.drown * float64(max(0, n-100)) * float64(gap))
		n++
		if e.service > 0 {
			free = max(free, a.At) + e.service
			wait = free - a.At
		}
		flying = append(flying, e.serve(a, factor, wait))
	}
	until(math.MaxInt64)
}

func (e *toy) serve(a engines.Arrival, factor float64, wait time.Duration) engines.Outcome {
	scaled := func(d time.Duration) time.Duration { return time.Duration(factor * float64(d)) }
	r := a.Request
	at := a.At + wait + scaled(50*time.Millisecond)
	first := at
	var chunks []engines.Chunk
	for range r.MaxTokens {
		chunks = append(chunks, engines.Chunk{At: at, Token: true, Content: true, Tokens: engines.Known(1)})
		at += scaled(5 * time.Millisecond)
	}
	at = chunks[len(chunks)-1].At
	if e.failing > 0 && e.passes == e.failing {
		return engines.Outcome{Request: r, Err: &engines.Error{Class: engines.ServerError, Message: "made up"}, Reply: engines.Reply{Sent: a.At, Closed: first, Status: 200, Model: "m"}}
	}
	return engines.Outcome{Request: r, Chunks: chunks, Reply: engines.Reply{
		Sent: a.At, FirstEvent: first, Closed: at, Status: 200, Model: "m", Finish: "length",
		PromptTokens: engines.Known(len(r.Tokens)), OutputTokens: engines.Known(r.MaxTokens), CachedTokens: engines.Known(0),
	}}
}

// fixed is a workload of equal requests.
type fixed struct{ prompt, output int }

func (f fixed) String() string { return "fixed(20/10)" }

func (f fixed) Request(i int, shape, content uint64) engines.Request {
	rng := rand.New(rand.NewPCG(content, uint64(i)))
	r := engines.Request{MaxTokens: f.output, MinTokens: f.output, IgnoreEOS: true}
	for range f.prompt {
		r.Tokens = append(r.Tokens, 1000+int32(rng.IntN(20_000)))
	}
	return r
}

var small = benchtest.Point{
	Name: "small", Workload: fixed{20, 10}, Arrivals: arrival.Poisson{Rate: 10}, Requests: 200,
}

// measured makes runs of a point on a toy for the test of that name.
func measured(t *testing.T, engine engines.Engine, p benchtest.Point, test string) *benchtest.Runs {
	t.Helper()
	runs, err := benchtest.Run(t.Context(), engine, p, benchtest.Options{Test: test})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs.Records {
		if !r.Valid() {
			t.Fatalf("the toy's runs must be valid: %v", r.Problems)
		}
	}
	return runs
}

// afresh is a module of its own, with nothing in it, as the current folder.
func afresh(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "go.mod", "module example.com/perf\n")
	calmly(t)
}

// calmly is an environment that asks for nothing and is no CI system's.
func calmly(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		key, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(key, "OPENLOOP_") || ciMarks[key] {
			t.Setenv(key, "")
		}
	}
}

var ciMarks = map[string]bool{
	"CI": true, "GITHUB_ACTIONS": true, "GITLAB_CI": true, "BUILDKITE": true, "JENKINS_URL": true, "CIRCLECI": true,
	"TF_BUILD": true, "TEAMCITY_VERSION": true, "GITEA_ACTIONS": true, "FORGEJO_ACTIONS": true, "DRONE": true,
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// files are the baselines below the current folder, each with its content.
func files(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "go.mod" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[filepath.ToSlash(path)] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
