package sim

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Flavor is the server whose routes and quirks the engine has.
type Flavor string

// The flavors. The zero Flavor is VLLM.
const (
	VLLM   Flavor = "vllm"
	SGLang Flavor = "sglang"
	// TensorRTLLM is trtllm-serve: no flush, no counters that are read, and
	// fields that it does not know, such as a completion's cache_salt, are
	// refused. It has no package of its own; engines/openai measures it.
	TensorRTLLM Flavor = "tensorrt_llm"
)

// blockTokens is the size of a block that each flavor's server has by itself:
// vLLM's on a GPU, SGLang's page, TensorRT-LLM's tokens_per_block.
var blockTokens = map[Flavor]int{VLLM: 16, SGLang: 1, TensorRTLLM: 32}

// DefaultModel is the model served when a Config names none.
const DefaultModel = "meta-llama/Meta-Llama-3-8B-Instruct"

// Config is an embedded engine. Its zero value is Llama-3-8B on an H100 with
// 64 sequences, served as vLLM does it outside development mode.
type Config struct {
	// Flavor decides routes, metric names and quirks. Empty is VLLM.
	Flavor Flavor
	// Model is the model served. Empty is DefaultModel.
	Model string
	// Profile is what a step's time follows from. Zero is Llama3H100.
	Profile Profile
	// Hardware is what the engine says it runs on. Empty is the profile's.
	Hardware string
	// DevMode opens the routes that vLLM has only with
	// VLLM_SERVER_DEV_MODE=1, above all the cache's flush. SGLang's flush is
	// always open.
	DevMode bool
	// APIKey is demanded as a bearer token, else 401. Empty demands none.
	APIKey string
	// Seed decides all that is random in the engine: noise and which requests
	// a fault strikes. Two engines of one seed are the same engine.
	Seed uint64

	// MaxNumSeqs is the number of sequences in a step. Zero is 64.
	MaxNumSeqs int
	// MaxBatchedTokens is the token budget of a step: one for each decode,
	// the rest prefills prompts. Zero is 3072.
	MaxBatchedTokens int
	// KVTokens is the capacity of the KV cache in tokens, a multiple of
	// BlockTokens. Zero is 400,000: what 90 % of 80 GB leave beside the weights
	// and 5 GB of work space.
	KVTokens int
	// BlockTokens is the number of tokens in a block of the KV cache, the least
	// that it shares between prompts. Zero is the flavor's default: 16 of vLLM
	// (which has 128 on a processor), 1 of SGLang, 32 of TensorRT-LLM.
	BlockTokens int
	// MaxModelLen is the largest prompt plus output. Zero is 8192, or
	// KVTokens when that is less.
	MaxModelLen int

	// DecodeSlowdown and PrefillSlowdown multiply those parts of a step's
	// time. Zero is 1; below 1 is faster.
	DecodeSlowdown, PrefillSlowdown float64
	// StepOverhead is added to every step. Zero is none.
	StepOverhead time.Duration
	// SlowFromBatch and SlowToBatch confine DecodeSlowdown, PrefillSlowdown
	// and StepOverhead to steps of at least, and at most, so many sequences.
	// Zero is no bound.
	SlowFromBatch, SlowToBatch int
	// CompileCost is the time that a step takes longer when its shape (decodes
	// and prefilled tokens, each rounded up to a power of two) is met for the
	// first time since the start. Each is a compile event in the log. Zero
	// compiles nothing.
	CompileCost time.Duration

	// StampEvents puts into each event of a stream that is no error the time at
	// which it was written, as the field "sent": nanoseconds of CLOCK_MONOTONIC,
	// which is one clock for all processes of a host, so that a client on the same
	// host knows how long an event was on its way. In a testing/synctest bubble
	// they are nanoseconds since the start of 2000, where a bubble's clock begins.
	// With Faults.Buffered an event is written when its tokens are made and leaves
	// later. Outside a bubble the field is absent on systems other than Linux,
	// macOS, FreeBSD and OpenBSD.
	StampEvents bool

	// Noise is how starts, runs and steps differ.
	Noise Noise
	// Faults are what is wrong with the engine.
	Faults Faults

	// Log receives the server's log lines. Nil drops them.
	Log io.Writer
}

// Validate reports everything that is wrong with the configuration.
func (c Config) Validate() error {
	_, err := c.resolve()
	return err
}

// resolve returns the configuration with its defaults filled in.
func (c Config) resolve() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Flavor == "" {
		c.Flavor = VLLM
	}
	block := blockTokens[c.Flavor]
	if block == 0 {
		bad("Flavor must be %q, %q or %q, got %q", VLLM, SGLang, TensorRTLLM, c.Flavor)
		block = blockTokens[VLLM]
	}
	if c.Model == "" {
		c.Model = DefaultModel
	}
	if c.Profile == (Profile{}) {
		c.Profile = Llama3H100
	}
	if err := c.Profile.validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Hardware == "" {
		c.Hardware = c.Profile.Hardware
	}
	fill := func(name string, v *int, zero int) {
		if *v == 0 {
			*v = zero
		}
		if *v < 0 {
			bad("%s must be positive, got %d", name, *v)
		}
	}
	fill("MaxNumSeqs", &c.MaxNumSeqs, 64)
	fill("MaxBatchedTokens", &c.MaxBatchedTokens, 3072)
	if fill("BlockTokens", &c.BlockTokens, block); c.BlockTokens > 0 {
		block = c.BlockTokens
	}
	fill("KVTokens", &c.KVTokens, 400_000/block*block)
	left := (c.KVTokens - c.Faults.LostKVTokens) / block * block
	fill("MaxModelLen", &c.MaxModelLen, min(8192, max(1, left)))
	if c.KVTokens%block != 0 {
		bad("KVTokens must be a multiple of the block size %d, got %d", block, c.KVTokens)
	}
	if c.MaxModelLen > left {
		bad("MaxModelLen must not exceed the KV capacity of %d tokens, got %d", left, c.MaxModelLen)
	}
	if c.MaxNumSeqs-c.Faults.LostSlots < 1 {
		bad("Faults.LostSlots must leave one of MaxNumSeqs = %d, got %d", c.MaxNumSeqs, c.Faults.LostSlots)
	}
	if c.MaxBatchedTokens <= c.MaxNumSeqs {
		bad("MaxBatchedTokens must exceed MaxNumSeqs = %d, got %d", c.MaxNumSeqs, c.MaxBatchedTokens)
	}
	factor := func(name string, v *float64) {
		if *v == 0 {
			*v = 1
		}
		if !(*v > 0) || math.IsInf(*v, 0) {
			bad("%s must be positive and finite, got %v", name, *v)
		}
	}
	factor("DecodeSlowdown", &c.DecodeSlowdown)
	factor("PrefillSlowdown", &c.PrefillSlowdown)
	if c.StepOverhead < 0 {
		bad("StepOverhead must not be negative, got %v", c.StepOverhead)
	}
	if c.CompileCost < 0 {
		bad("CompileCost must not be negative, got %v", c.CompileCost)
	}
	if c.SlowFromBatch < 0 || c.SlowToBatch < 0 || c.SlowToBatch > 0 && c.SlowToBatch < c.SlowFromBatch {
		bad("SlowFromBatch and SlowToBatch must be a range of batch sizes, got %d to %d", c.SlowFromBatch, c.SlowToBatch)
	}
	var err error
	if c.Noise, err = c.Noise.resolve(); err != nil {
		errs = append(errs, err)
	}
	if err := c.Faults.validate(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return c, fmt.Errorf("sim: %w", errors.Join(errs...))
	}
	return c, nil
}

// check says what is wrong with a request's lengths, as the servers do.
func (c *Config) check(prompt, most, least int) error {
	switch {
	case prompt == 0:
		return errors.New("the prompt is empty: it must have at least one token")
	case most < 1:
		return fmt.Errorf("max_tokens must be at least 1, got %d", most)
	case least < 0 || least > most:
		return fmt.Errorf("min_tokens must be from 0 to max_tokens=%d, got %d", most, least)
	case prompt+most > c.MaxModelLen:
		return &tooLong{c.MaxModelLen, prompt, most}
	}
	return nil
}

// tooLong is a request that exceeds the model's context.
type tooLong struct{ limit, prompt, most int }

func (e *tooLong) Error() string {
	return fmt.Sprintf("this model's maximum context length is %d tokens; the prompt has %d and %d are asked for: %d together", e.limit, e.prompt, e.most, e.prompt+e.most)
}
