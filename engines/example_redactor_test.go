package engines_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

// Keyed is an engine that was given an API key.
type Keyed struct{ key string }

func (Keyed) Generate(context.Context, *engines.Request, func(engines.Chunk)) (engines.Reply, error) {
	return engines.Reply{}, nil
}

func (k Keyed) Redact(text string) string { return strings.ReplaceAll(text, k.key, "[redacted]") }

func ExampleRedactor() {
	var engine engines.Engine = Keyed{"sk-0123456789"}
	answer := "incorrect API key: sk-0123456789"
	if r, ok := engine.(engines.Redactor); ok {
		answer = r.Redact(answer)
	}
	fmt.Println(answer)
	// Output: incorrect API key: [redacted]
}
