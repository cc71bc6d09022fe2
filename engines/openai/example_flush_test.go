package openai_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/engines/sim"
)

// A server without a flush: what rules reuse out there, and that requests must
// carry no cache salt.
func ExampleEngine_Flush() {
	server, err := sim.NewServer(sim.Config{Flavor: sim.TensorRTLLM})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	h := httptest.NewServer(server.Handler())
	defer h.Close()
	ctx := context.Background()
	engine, err := openai.Attach(ctx, openai.Config{URL: h.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	flush, err := engine.Flush(ctx)
	fmt.Println(flush.Outcome, flush.Saltless, err)
	fmt.Println(flush.Remedy)
	// Output:
	// unsupported true <nil>
	// TensorRT-LLM has no flush: to rule reuse out set kv_cache_config.enable_block_reuse to false in its configuration
}
