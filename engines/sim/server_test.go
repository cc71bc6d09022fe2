package sim_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(id string, prompt, output int) *engines.Request {
	tokens := make([]int32, prompt)
	for i := range tokens {
		tokens[i] = int32(i) + int32(id[0])*100
	}
	return &engines.Request{ID: id, Tokens: tokens, MaxTokens: output, IgnoreEOS: true}
}

// TestAClientThatLeavesFreesItsSlot: with one slot, the second request starts
// with the step after the one during which the first was canceled.
func TestAClientThatLeavesFreesItsSlot(t *testing.T) {
	inBubble(t, sim.Config{MaxNumSeqs: 1, Noise: sim.Quiet}, func(t *testing.T, m *sim.Memory) {
		origin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := m.Generate(ctx, ask("a", 100, 1000), func(engines.Chunk) {})
			if class(err) != engines.Canceled {
				t.Errorf("the first: %v, want canceled", err)
			}
		})
		time.Sleep(100 * time.Millisecond)
		if l, err := m.Load(t.Context()); err != nil || l.Running.N != 1 {
			t.Errorf("load %+v, %v; want 1 running", l, err)
		}
		cancel()
		r := ask("b", 100, 2)
		r.Stamp = func() time.Duration { return time.Since(origin) }
		reply, err := m.Generate(t.Context(), r, func(engines.Chunk) {})
		step, first := sim.Llama3H100.DecodeStep(1, 150), sim.Llama3H100.Prefill(100)
		if wait := reply.FirstEvent - 100*time.Millisecond; err != nil || wait <= first || wait > step+first+10*time.Microsecond {
			t.Errorf("the second: first token after %v, %v; want within a step of %v and a prefill of %v", wait, err, step, first)
		}
		wg.Wait()
		if l, err := m.Load(t.Context()); err != nil || !l.Idle() {
			t.Errorf("load %+v, %v; want idle", l, err)
		}
	})
}

func TestARestartIsAnotherStart(t *testing.T) {
	inBubble(t, sim.Config{DevMode: true, Faults: sim.Faults{LoadingFor: 30 * time.Second}}, func(t *testing.T, m *sim.Memory) {
		once := func(id string) (engines.Reply, error) {
			return m.Generate(t.Context(), ask(id, 64, 8), func(engines.Chunk) {})
		}
		if _, err := once("a"); err != nil {
			t.Fatal(err)
		}
		if r, _ := once("a"); r.CachedTokens.N != 48 {
			t.Errorf("before: %d cached tokens, want 48", r.CachedTokens.N)
		}
		before, err := m.Scrape(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lost := make(chan error, 1)
		go func() {
			_, err := m.Generate(t.Context(), ask("c", 64, 4000), func(engines.Chunk) {})
			lost <- err
		}()
		time.Sleep(time.Second)
		began := time.Now()
		if err := m.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("ready after %v, want 30s", took)
		}
		if err := <-lost; class(err) != engines.Reset {
			t.Errorf("what was in flight: %v, want a reset", err)
		}
		if r, err := once("a"); err != nil || r.CachedTokens.N != 0 {
			t.Errorf("after: %d cached tokens, %v; want none", r.CachedTokens.N, err)
		}
		after, err := m.Scrape(t.Context())
		if err != nil || after.Instance == before.Instance || after.PromptTokens.N != 64 {
			t.Errorf("counters %+v, %v; want another instance than %q and 64 prompt tokens", after, err, before.Instance)
		}
	})
}

func TestWhileItLoadsItRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := sim.New(t, sim.Config{Faults: sim.Faults{LoadingFor: 2500 * time.Millisecond}})
		if took := time.Since(began); took < 2500*time.Millisecond || took > 4*time.Second {
			t.Errorf("attached after %v, want the first try after 2.5s", took)
		}
		if _, err := m.Generate(t.Context(), ask("a", 16, 2), func(engines.Chunk) {}); err != nil {
			t.Error(err)
		}
	})
}

func TestItsKeyIsDemanded(t *testing.T) {
	for _, flavor := range []sim.Flavor{sim.VLLM, sim.SGLang} {
		inBubble(t, sim.Config{Flavor: flavor, APIKey: "k-123456"}, func(t *testing.T, m *sim.Memory) {
			if _, err := m.Generate(t.Context(), ask("a", 16, 2), func(engines.Chunk) {}); err != nil {
				t.Errorf("%s, with the key: %v", flavor, err)
			}
		})
	}
}

func TestCompilationsAreLoggedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := sim.New(t, sim.Config{CompileCost: time.Second, Log: &log})
		for _, id := range []string{"a", "b"} {
			if _, err := m.Generate(t.Context(), ask(id, 64, 4), func(engines.Chunk) {}); err != nil {
				t.Fatal(err)
			}
		}
		n, err := m.CompileEvents(t.Context())
		// Steps of 8 and 64 prefilled tokens and of one decode: the probe that it is
		// ready by has the first and the last.
		if lines := strings.Count(log.String(), "JIT compilation during inference: step_"); err != nil || n.N != 3 || lines != 3 {
			t.Errorf("%d events, %v, and in the log %d:\n%s", n.N, err, lines, log.String())
		}
		if !strings.Contains(log.String(), "Kernel JIT monitor activated") {
			t.Errorf("the log does not tell of the monitor:\n%s", log.String())
		}
	})
}

// TestOnAPortItKeepsVirtualTime: over a real port, on the real clock, times
// are those of virtual time and what the host adds. What it adds is measured
// beside it, as the lateness of short sleeps; and the events least delayed, a
// tenth of all, are looked at, because a busy host's pauses come in bursts.
func TestOnAPortItKeepsVirtualTime(t *testing.T) {
	cfg := sim.Config{Noise: sim.Quiet, DevMode: true}
	l, n := load{rate: 30, prompt: 256, output: 24, seed: 5}, 30
	model, err := sim.NewModel(cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := inArithmetic(model, l, n)

	server, err := sim.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	engine, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	lateness := measureSleeps(t)
	got := overHTTP(engine, l, n)
	host := lateness()
	var late []time.Duration
	for i := range got {
		if got[i].err != nil || got[i].tokens() != l.output {
			t.Fatalf("request %d: %d tokens, %v", i, got[i].tokens(), got[i].err)
		}
		late = append(late, got[i].reply.FirstEvent-want[i].reply.FirstEvent, got[i].chunks[23].At-want[i].chunks[23].At)
	}
	slices.Sort(late)
	allowed := 20*time.Millisecond + 20*host
	if tenth := late[len(late)/10]; tenth < -allowed || tenth > allowed {
		t.Errorf("a tenth of the events is up to %v late against virtual time, want at most %v; the others up to %v", tenth, allowed, late[len(late)-1])
	}
	t.Logf("late: median %v, most %v; a sleep %v", late[len(late)/2], late[len(late)-1], host)
	if err := engine.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// measureSleeps begins to measure how late short sleeps end; the function that
// it returns ends that, and gives the median.
func measureSleeps(t *testing.T) func() time.Duration {
	t.Helper()
	stop := make(chan struct{})
	result := make(chan time.Duration)
	go func() {
		var late []time.Duration
		for {
			select {
			case <-stop:
				slices.Sort(late)
				result <- late[len(late)/2]
				return
			default:
				began := time.Now()
				time.Sleep(time.Millisecond)
				late = append(late, time.Since(began)-time.Millisecond)
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-result
	}
}

func TestAClosedEngineAnswersNothing(t *testing.T) {
	inBubble(t, sim.Config{}, func(t *testing.T, m *sim.Memory) {
		lost := make(chan error, 1)
		go func() {
			_, err := m.Generate(context.Background(), ask("a", 16, 4000), func(engines.Chunk) {})
			lost <- err
		}()
		time.Sleep(time.Second)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := <-lost; class(err) != engines.Reset {
			t.Errorf("what was in flight: %v, want a reset", err)
		}
		_, err := m.Generate(t.Context(), ask("b", 16, 2), func(engines.Chunk) {})
		e := (*engines.Error)(nil)
		if !errors.As(err, &e) || e.Class != engines.Unreachable {
			t.Errorf("afterwards: %v, want unreachable", err)
		}
	})
}
