// Package owners tells kinds of servers by the owner that they give their models,
// which many set to a name of their own.
package owners

// Kind is a kind of server.
type Kind struct {
	// Owner is its models' owner, "owned_by" in the list of models.
	Owner string
	// Name is what its makers call it.
	Name string
	// Package is the one here that starts and measures it, as in engines/vllm.
	// Empty is none: then engines/openai measures it.
	Package string
	// Cold is how it is kept from reusing prompts by who has found none of the
	// routes by which servers flush.
	Cold string
}

// kinds are those whose owner is known.
var kinds = []Kind{
	{"vllm", "vLLM", "vllm", "start vLLM with VLLM_SERVER_DEV_MODE=1 in its environment, and attach by engines/vllm"},
	{"sglang", "SGLang", "sglang", "something between here and SGLang hides /flush_cache: attach to the server itself, by engines/sglang"},
	{"llamacpp", "llama.cpp", "llamacpp", "attach by engines/llamacpp, whose requests refuse the cache"},
	{"tensorrt_llm", "TensorRT-LLM", "", "TensorRT-LLM has no flush: to rule reuse out set kv_cache_config.enable_block_reuse to false in its configuration"},
	{"lmdeploy", "LMDeploy", "", "LMDeploy has no flush: to rule reuse out start it without --enable-prefix-caching"},
	{"library", "Ollama", "", "Ollama has no flush, and reuses prompts always: measure its llama-server by engines/llamacpp"},
}

// By is the kind whose models have the owner; false is one unknown here.
func By(owner string) (Kind, bool) {
	for _, k := range kinds {
		if k.Owner == owner {
			return k, true
		}
	}
	return Kind{}, false
}
