package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/openloop-go/openloop/engines"
)

// Model is one entry of /v1/models.
type Model struct {
	// ID is the served name; Root the repository or path behind it, where the
	// server says so.
	ID, Root string
	// OwnedBy is the model's owner, which servers set to the name of their own
	// kind; Parent the base model of an adapter. Empty where the server does
	// not say.
	OwnedBy, Parent string
	// MaxLen is the longest context in tokens, where the server says so.
	MaxLen engines.Count
}

// Models lists the models that the server serves (GET /v1/models).
func (e *Engine) Models(ctx context.Context) ([]Model, error) {
	var list struct {
		Data []struct {
			ID      string
			Root    string
			OwnedBy json.RawMessage `json:"owned_by"`
			Parent  json.RawMessage
			MaxLen  json.RawMessage `json:"max_model_len"`
		}
	}
	if err := e.JSON(ctx, http.MethodGet, "/v1/models", nil, &list); err != nil {
		return nil, err
	}
	var models []Model
	for _, m := range list.Data {
		models = append(models, Model{
			ID: m.ID, Root: m.Root, OwnedBy: text(m.OwnedBy), Parent: text(m.Parent), MaxLen: integer(m.MaxLen),
		})
	}
	return models, nil
}

// Attach is New, and checks that the server answers and serves the model. An
// empty Config.Model becomes the only model that is served. An error is one
// sentence that says what was asked and what to do; errors.As finds the
// *engines.Error where the server was asked at all.
func Attach(ctx context.Context, cfg Config) (*Engine, error) {
	e, err := New(cfg)
	if err != nil {
		return nil, err
	}
	models, err := e.Models(ctx)
	if err != nil {
		e.Close()
		var failure *engines.Error
		if errors.As(err, &failure) {
			failure.Message = "attach to " + failure.Message
		}
		return nil, err
	}
	if err := e.choose(models); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// choose settles the model to ask for.
func (e *Engine) choose(models []Model) error {
	refuse := func(format string, args ...any) error {
		failure := e.fail(engines.NoModel, http.StatusOK, nil, format, args...)
		failure.Message = "attach to " + failure.Message
		return failure
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = fmt.Sprintf("%q", m.ID)
		if m.ID == e.model {
			return nil
		}
	}
	served := strings.Join(names, ", ")
	switch {
	case len(models) == 0:
		return refuse("the server lists no model: wait until it has loaded one")
	case e.model == "" && len(models) == 1:
		e.model = models[0].ID
		return nil
	case e.model == "":
		return refuse("the server serves %s: set the model to one of them", served)
	}
	for _, m := range models {
		if m.Root == e.model {
			return refuse("model %q is served as %q: ask for that name", e.model, m.ID)
		}
	}
	return refuse("model %q is not served: the server serves %s", e.model, served)
}
