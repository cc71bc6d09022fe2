package sim_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/sim"
)

// The cache shares whole blocks of a prompt: the larger they are, the more of a
// prompt that was sent before is computed again.
func ExampleConfig_blockTokens() {
	for _, size := range []int{0, 128, 512} { // zero is vLLM's on a GPU, 16
		model, err := sim.NewModel(sim.Config{BlockTokens: size})
		if err != nil {
			fmt.Println(err)
			return
		}
		request := &engines.Request{ID: "r", Tokens: make([]int32, 300), MaxTokens: 8, IgnoreEOS: true}
		for range 2 {
			reply, err := model.Generate(context.Background(), request, func(engines.Chunk) {})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Print(reply.CachedTokens.N, " ")
		}
		fmt.Println("of 300 tokens")
	}
	_, err := sim.NewModel(sim.Config{BlockTokens: 128, KVTokens: 1000})
	fmt.Println(err)
	// Output:
	// 0 288 of 300 tokens
	// 0 256 of 300 tokens
	// 0 0 of 300 tokens
	// sim: KVTokens must be a multiple of the block size 128, got 1000
}
