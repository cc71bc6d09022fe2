package server

import (
	"context"

	"github.com/openloop-go/openloop/engines/openai"
)

// Identify tells the kind of a server that serves these models: "vllm",
// "sglang" or "llamacpp". Empty is a kind unknown here, and then said is what
// it calls itself, if anything. err is for a server that could not be asked.
func Identify(ctx context.Context, client *openai.Engine, models []openai.Model) (kind, said string, err error) {
	return identify(ctx, client, models)
}
