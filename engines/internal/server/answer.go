package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/openai"
)

// Object is the JSON object that a successful answer consists of. False: it
// was no success, or no object.
func Object(a *openai.Answer) (map[string]any, bool) {
	if a.Status/100 != 2 {
		return nil, false
	}
	var object map[string]any
	if json.Unmarshal(a.Body, &object) != nil || object == nil {
		return nil, false
	}
	return object, true
}

// Metrics is the server's page of metrics. A server without one has an empty
// page: all that is read from it is unknown.
func (s *Server) Metrics(ctx context.Context) (*openai.Page, error) {
	page, err := s.Client().Page(ctx, "/metrics")
	if e := (*engines.Error)(nil); errors.As(err, &e) && e.Status == http.StatusNotFound {
		return &openai.Page{}, nil
	}
	return page, err
}
