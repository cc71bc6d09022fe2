package sim_test

import (
	"testing"
	"time"

	"github.com/openloop-go/openloop/engines/sim"
)

func TestWhatIsWrongIsSaidAllAtOnce(t *testing.T) {
	_, err := sim.NewModel(sim.Config{
		Flavor: "tgi", KVTokens: 100, MaxModelLen: 200, DecodeSlowdown: -1, MaxBatchedTokens: 64,
		Faults: sim.Faults{CutShare: .7, ResetShare: .7, StallFor: time.Second, RefuseStatus: 500},
	})
	const want = `sim: Flavor must be "vllm", "sglang" or "tensorrt_llm", got "tgi"
KVTokens must be a multiple of the block size 16, got 100
MaxModelLen must not exceed the KV capacity of 96 tokens, got 200
MaxBatchedTokens must exceed MaxNumSeqs = 64, got 64
DecodeSlowdown must be positive and finite, got -1
Faults: ErrorShare, RefuseShare, StreamErrorShare, CutShare and ResetShare must not exceed 1 together, got 1.4
Faults: StallEvery and StallFor go together, got 0s and 1s
Faults.RefuseStatus must be 429 or 503, got 500`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if _, err := sim.Open(t.Context(), sim.Config{MaxNumSeqs: -1}); err == nil {
		t.Error("an engine with -1 sequences started")
	}
	if err := (sim.Config{}).Validate(); err != nil {
		t.Error(err)
	}
}
