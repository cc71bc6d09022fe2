package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/openloop-go/openloop/engines/sim"
)

const simUsage = `usage: openloop sim [flags] [MODEL]

Serves the embedded engine, a model of continuous batching behind the routes of
vLLM, SGLang or TensorRT-LLM, until it is interrupted. It understands what those
servers are started with (MODEL --host --port, --model-path, VLLM_SERVER_DEV_MODE=1 and
VLLM_API_KEY in the environment), so that it can stand in for them. The first line of output is
"listening on http://HOST:PORT"; the engine's log goes to standard error.

exit status: 0 after an interrupt, 2 when it cannot serve

flags:
`

// simGrace is how long streams may take to end after an interrupt.
const simGrace = 5 * time.Second

func simVerb(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("sim", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	cfg := sim.Config{Log: stderr}
	addr := flags.String("addr", "", "`HOST:PORT` to listen on; port 0 takes a free one (default the flavor's own on 127.0.0.1: 30000 for sglang, else 8000)")
	simFlags(flags, &cfg)
	var as standIn
	as.flags(flags)
	switch err := as.parse(flags, args, &cfg); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, simUsage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return exitOK
	case err != nil:
		return cannotServe(stderr, err)
	}
	listen, err := as.address(*addr, cfg.Flavor)
	if err != nil {
		return cannotServe(stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serveSim(ctx, stop, cfg, listen, stdout); err != nil {
		return cannotServe(stderr, err)
	}
	return exitOK
}

func cannotServe(stderr io.Writer, err error) int {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "openloop sim: %s\n", strings.TrimRight(line, "\n"))
	}
	return exitUnusable
}

// serveSim serves until the context ends, and then lets streams end: not for
// long, and not after a second interrupt, which stop hands to the system.
func serveSim(ctx context.Context, stop func(), cfg sim.Config, addr string, stdout io.Writer) error {
	server, err := sim.NewServer(cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("sim: -addr %s: %w: choose another, or port 0", addr, err)
	}
	if _, err := fmt.Fprintf(stdout, "listening on http://%s\n", listener.Addr()); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop()
	grace, cancel := context.WithTimeout(context.Background(), simGrace)
	defer cancel()
	_ = server.Shutdown(grace) // streams that the grace was too short for are cut
	return <-served
}

// simFlags are the engine's knobs. Each is zero, the default of its field,
// when it is not given.
func simFlags(flags *flag.FlagSet, c *sim.Config) {
	f := &c.Faults
	flags.StringVar((*string)(&c.Flavor), "flavor", string(sim.VLLM), "`vllm, sglang or tensorrt_llm`: whose routes and quirks it has")
	flags.StringVar(&c.Model, "model", sim.DefaultModel, "the `name` of the model served")
	flags.StringVar(&c.Hardware, "hardware", "", "the `name` of what it says it runs on (default the profile's)")
	flags.BoolVar(&c.DevMode, "dev-mode", false, "open vLLM's routes of development mode, such as /reset_prefix_cache")
	flags.Func("api-key", "demand this `key`; $NAME takes it from the environment, where other users cannot read it", func(key string) error {
		if name, ok := strings.CutPrefix(key, "$"); ok {
			if key = os.Getenv(name); key == "" {
				return fmt.Errorf("the environment has no %s", name)
			}
		}
		c.APIKey = key
		return nil
	})
	flags.Uint64Var(&c.Seed, "seed", 0, "the engine's noise and whom faults strike")

	flags.IntVar(&c.MaxNumSeqs, "max-num-seqs", 0, "sequences in a step (default 64)")
	flags.IntVar(&c.MaxBatchedTokens, "max-num-batched-tokens", 0, "token budget of a step (default 3072)")
	flags.IntVar(&c.KVTokens, "kv-tokens", 0, "capacity of the KV cache (default 400000)")
	flags.IntVar(&c.BlockTokens, "block-tokens", 0, "tokens in a block of the KV cache (default 16 for vllm, 1 for sglang, 32 for tensorrt_llm)")
	flags.IntVar(&c.MaxModelLen, "max-model-len", 0, "largest prompt plus output (default 8192)")
	flags.Float64Var(&c.DecodeSlowdown, "decode-slowdown", 0, "`factor` on the decode part of a step, 1.1 is 10 % slower (default 1)")
	flags.Float64Var(&c.PrefillSlowdown, "prefill-slowdown", 0, "`factor` on the prefill part of a step (default 1)")
	flags.DurationVar(&c.StepOverhead, "step-overhead", 0, "added to every step")
	flags.IntVar(&c.SlowFromBatch, "slow-from-batch", 0, "confine the three above to steps of at least so many sequences")
	flags.IntVar(&c.SlowToBatch, "slow-to-batch", 0, "confine them to steps of at most so many sequences")
	flags.DurationVar(&c.CompileCost, "compile-cost", 0, "added to the first step of each shape")

	flags.BoolVar(&c.StampEvents, "stamp-events", false, "put into each event of a stream when it was written, as \"sent\" in nanoseconds of CLOCK_MONOTONIC")

	quiet := func(string) error { c.Noise = sim.Quiet; return nil }
	flags.BoolFunc("quiet", "no noise at all", quiet)
	flags.Float64Var(&c.Noise.Start, "noise-start", 0, "`deviation` between starts; negative is off (default 0.005)")
	flags.Float64Var(&c.Noise.Run, "noise-run", 0, "`deviation` within and between runs; negative is off (default 0.01)")
	flags.Float64Var(&c.Noise.Step, "noise-step", 0, "`deviation` between steps (default off)")
	flags.DurationVar(&c.Noise.Correlation, "noise-correlation", 0, "correlation time of noise-run (default 1m)")

	flags.DurationVar(&f.StallEvery, "stall-every", 0, "stop for stall-for each time so much of the run has passed")
	flags.DurationVar(&f.StallFor, "stall-for", 0, "see stall-every")
	flags.Float64Var(&f.TailShare, "tail-share", 0, "`share` of requests admitted later by tail-delay")
	flags.DurationVar(&f.TailDelay, "tail-delay", 0, "see tail-share")
	flags.Float64Var(&f.Leak, "leak", 0, "every request served makes steps slower by this `share`")
	flags.Float64Var(&f.SlowStartShare, "slow-start-share", 0, "`share` of starts that are slower by slow-start-factor")
	flags.Float64Var(&f.SlowStartFactor, "slow-start-factor", 0, "see slow-start-share")
	flags.BoolVar(&f.CacheOff, "cache-off", false, "no prefix cache")
	flags.IntVar(&f.LostKVTokens, "lost-kv-tokens", 0, "take tokens from kv-tokens, untold")
	flags.IntVar(&f.LostSlots, "lost-slots", 0, "take sequences from max-num-seqs, untold")
	flags.Float64Var(&f.OutputCut, "output-cut", 0, "`share` of each output not generated")
	flags.Float64Var(&f.ErrorShare, "error-share", 0, "`share` of requests that get status 500")
	flags.Float64Var(&f.RefuseShare, "refuse-share", 0, "`share` of requests that are refused")
	flags.IntVar(&f.RefuseAbove, "refuse-above", 0, "refuse while so many are waiting")
	flags.IntVar(&f.RefuseStatus, "refuse-status", 0, "status of a refusal, 429 or 503 (default 429)")
	flags.Float64Var(&f.StreamErrorShare, "stream-error-share", 0, "`share` of streams that end in an error object")
	flags.Float64Var(&f.CutShare, "cut-share", 0, "`share` of streams that end without [DONE]")
	flags.Float64Var(&f.ResetShare, "reset-share", 0, "`share` of streams whose connection is reset")
	flags.BoolVar(&f.Buffered, "buffered", false, "hold every stream until it is complete")
	flags.IntVar(&f.TokensPerEvent, "tokens-per-event", 0, "tokens in an event (default 1)")
	flags.BoolVar(&f.NoUsage, "no-usage", false, "no token counts in streams")
	flags.BoolVar(&f.HideCached, "hide-cached", false, "no cached tokens in usage")
	flags.BoolVar(&f.FlushLies, "flush-lies", false, "say that the cache was flushed and keep it")
	flags.IntVar(&f.FlushRefusals, "flush-refusals", 0, "refuse so many flushes; negative refuses all")
	flags.BoolVar(&f.FlushEmptyBody, "flush-empty-body", false, "answer a flush without a body, as vLLM before 0.26")
	flags.IntVar(&f.RestartAfter, "restart-after", 0, "crash once, after so many requests")
	flags.DurationVar(&f.RestartDown, "restart-down", 0, "how long it is down then")
	flags.DurationVar(&f.LoadingFor, "loading-for", 0, "answer 503 for so long after the start")
	flags.StringVar(&f.AnswerModel, "answer-model", "", "the `name` of the model that replies give instead")
	flags.BoolVar(&f.IgnoreSalt, "ignore-salt", false, "share the cache between cache salts")

	p := &f.Protocol
	flags.Float64Var(&p.Miscount, "miscount", 0, "`share` by which usage tells too many output tokens; negative is too few")
	flags.BoolVar(&p.NoMetrics, "no-metrics", false, "no page of metrics")
	flags.BoolVar(&p.NoLoad, "no-load", false, "always say that nothing runs and nothing waits")
	flags.BoolVar(&p.StaleLoad, "stale-load", false, "tell the load as of the last step, which stays when a client has gone")
	flags.BoolVar(&p.NoTokenIDs, "no-token-ids", false, "refuse prompts of token ids")
	flags.BoolVar(&p.RejectSalt, "reject-salt", false, "refuse requests with a cache salt")
	flags.BoolVar(&p.ErrorsInStreams, "errors-in-streams", false, "answer what is wrong with a request by status 200 and an error in the stream")
	flags.BoolVar(&p.CloseIdle, "close-idle", false, "close every connection after its reply, unannounced")
	flags.BoolVar(&p.KeepDropped, "keep-dropped", false, "work on for clients that have gone")
	flags.DurationVar(&p.ClockOff, "clock-off", 0, "how far its clock is ahead; negative is behind")
}
