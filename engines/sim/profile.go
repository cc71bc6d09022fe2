package sim

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Profile is the hardware and the model that a step's time follows from.
// The zero value is Llama3H100.
type Profile struct {
	// Hardware names what it stands for, as in "1x H100 SXM 80GB".
	Hardware string
	// WeightBytes is what a decode step reads of the model, in bytes.
	WeightBytes float64
	// KVBytes is the KV cache of one token, in bytes.
	KVBytes float64
	// Bandwidth is the memory's, in bytes per second.
	Bandwidth float64
	// Parameters is the number of weights that take part in a token.
	Parameters float64
	// FLOPS is the peak rate of the prefill, in operations per second.
	FLOPS float64
}

// Llama3H100 is Llama-3-8B in bf16 on one H100 SXM, both at their floors:
// 15.01 GB of weights over 3.35 TB/s, 128 KiB of KV a token (32 layers × 8 KV
// heads × 128 × 2 × 2 bytes), 7.505e9 parameters at 989.4 dense bf16 TFLOP/s.
var Llama3H100 = Profile{
	Hardware:    "1x H100 SXM 80GB (simulated)",
	WeightBytes: 15.01e9,
	KVBytes:     128 << 10,
	Bandwidth:   3.35e12,
	Parameters:  7.505e9,
	FLOPS:       989.4e12,
}

// DecodeStep is the time of a step that decodes a token for every one of
// batch sequences of the given context length, and prefills nothing. It is
// zero for an empty batch.
func (p Profile) DecodeStep(batch, context int) time.Duration {
	return seconds(p.decode(batch, batch*context))
}

// Prefill is the time that a prompt of so many tokens adds to the steps that
// compute it.
func (p Profile) Prefill(tokens int) time.Duration { return seconds(p.prefill(tokens)) }

// Capacity is the largest rate of requests, per second, of prompt tokens in
// and output tokens out, with batch of them in flight: one over
// (output−1) × DecodeStep(batch, prompt+output/2) ÷ batch + Prefill(prompt).
func (p Profile) Capacity(batch, prompt, output int) float64 {
	step := p.decode(batch, batch*(prompt+output/2))
	return 1 / (float64(output-1)*step/float64(batch) + p.prefill(prompt))
}

func (p Profile) decode(batch, contexts int) float64 {
	if batch == 0 {
		return 0
	}
	return (p.WeightBytes + p.KVBytes*float64(contexts)) / p.Bandwidth
}

func (p Profile) prefill(tokens int) float64 {
	return 2 * p.Parameters * float64(tokens) / p.FLOPS
}

func (p Profile) validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"WeightBytes", p.WeightBytes}, {"KVBytes", p.KVBytes}, {"Bandwidth", p.Bandwidth},
		{"Parameters", p.Parameters}, {"FLOPS", p.FLOPS},
	} {
		if !(f.value > 0) || math.IsInf(f.value, 0) {
			errs = append(errs, fmt.Errorf("Profile.%s must be positive and finite, got %v", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
