package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/openloop-go/openloop/engines/internal/owners"
	"github.com/openloop-go/openloop/engines/openai"
)

// identify tells the kind of a server: by the owner that it gives its models,
// which each kind sets to its own name, else by a route that only that kind
// has. Empty is a kind unknown here, and then said is what it calls itself.
func identify(ctx context.Context, client *openai.Engine, models []openai.Model) (kind, said string, err error) {
	for _, m := range models {
		if k, known := owners.By(m.OwnedBy); known { // even with routes of another's names
			return k.Package, m.OwnedBy, nil
		}
		said = m.OwnedBy
	}
	// /version last: others than vLLM have it too.
	for _, mark := range []struct{ path, field, kind string }{
		{"/props", "build_info", "llamacpp"},
		{"/model_info", "tokenizer_path", "sglang"},
		{"/get_model_info", "tokenizer_path", "sglang"},
		{"/version", "version", "vllm"},
	} {
		has, err := answersWith(ctx, client, mark.path, mark.field)
		if err != nil {
			return "", "", err
		}
		if has {
			return mark.kind, said, nil
		}
	}
	return "", said, nil
}

// answersWith reports whether a GET gives a JSON object with the field. A
// server that does not know the route is no error.
func answersWith(ctx context.Context, client *openai.Engine, path, field string) (bool, error) {
	answer, err := client.Do(ctx, "GET", path, nil)
	if err != nil {
		return false, err
	}
	object, ok := Object(answer)
	if !ok {
		return false, nil
	}
	_, ok = object[field]
	return ok, nil
}

// wrongKind is the sentence for a server of another kind.
func (k *Kind) wrongKind(c Config, at, kind, said string) error {
	if c.from == justStarted {
		other := "another kind"
		if kind != "" {
			other = "kind " + kind
		}
		return fmt.Errorf("%s is a server of %s, want %s: Config.Command or Config.Image starts something else than its package is for",
			at, other, k.Name)
	}
	if kind == "" {
		name := "unknown kind"
		if other, known := owners.By(said); known {
			name = "kind " + other.Name
		}
		if said != "" {
			name += fmt.Sprintf(", whose models are owned by %q", said)
		}
		return fmt.Errorf("%s is a server of %s, want %s: attach engines/openai to it, or set %s to a server of this kind",
			at, name, k.Name, k.Variable)
	}
	return fmt.Errorf("%s is a server of kind %s, want %s: set %s to a server of this kind, or use engines/%s",
		at, kind, k.Name, k.Variable, kind)
}

// choose finds the served name of the model asked for, which may also be
// given as the path or repository behind it. Asked for none, it takes the only
// one that is no adapter: one of those is never chosen unasked.
func (k *Kind) choose(models []openai.Model, want string) (string, error) {
	var names, bases []string
	for _, m := range models {
		if want != "" && (m.ID == want || m.Parent == "" && (m.Root == want || k.alias(m.ID) == k.alias(want))) {
			return m.ID, nil
		}
		names = append(names, fmt.Sprintf("%q", m.ID))
		if m.Parent == "" {
			bases = append(bases, m.ID)
		}
	}
	if want == "" && len(bases) == 1 {
		return bases[0], nil
	}
	serves := strings.Join(names, ", ")
	if want == "" {
		return "", fmt.Errorf("it serves %s: name one of them in Config.Model or OPENLOOP_MODEL", serves)
	}
	return "", fmt.Errorf("it serves %s, want %q: ask for what it serves in Config.Model or OPENLOOP_MODEL, or point the URL elsewhere",
		serves, want)
}

// alias is the name under which a model is served.
func (k *Kind) alias(model string) string {
	if k.Alias == nil {
		return model
	}
	return k.Alias(model)
}
