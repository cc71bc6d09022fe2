package shape

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/engines/sim"
)

// Same sends each of Asks to the server at root and to the embedded engine of a
// flavor. The error is every stream of the one that has not the fields of the
// other's, in their order.
func Same(root, model string, flavor sim.Flavor) error {
	engine, err := sim.NewServer(sim.Config{Flavor: flavor, Model: model})
	if err != nil {
		return err
	}
	defer engine.Close()
	embedded := httptest.NewServer(engine.Handler())
	defer embedded.Close()
	var errs []error
	for _, ask := range Asks {
		theirs, err := Ask(root, model, ask.Path, ask.Fields)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ask.Name, err))
			continue
		}
		ours, err := Ask(embedded.URL, model, ask.Path, ask.Fields)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s, embedded: %w", ask.Name, err))
		} else if !slices.Equal(theirs, ours) {
			errs = append(errs, fmt.Errorf("%s: the server's stream is\n    %s\nand the embedded engine's\n    %s",
				ask.Name, strings.Join(theirs, "\n    "), strings.Join(ours, "\n    ")))
		}
	}
	return errors.Join(errs...)
}
