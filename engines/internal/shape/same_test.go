package shape

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openloop-go/openloop/engines/sim"
)

// Each flavor that takes all that is asked streams as itself, and as no other one
// in anything of it.
func TestFlavorsAreToldByTheirStreams(t *testing.T) {
	flavors := []sim.Flavor{sim.VLLM, sim.SGLang}
	for _, served := range flavors {
		engine, err := sim.NewServer(sim.Config{Flavor: served, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		h := httptest.NewServer(engine.Handler())
		defer h.Close()
		for _, flavor := range flavors {
			err := Same(h.URL, "m", flavor)
			if served == flavor {
				if err != nil {
					t.Errorf("%s: %v", served, err)
				}
				continue
			}
			for _, ask := range Asks {
				if err == nil || !strings.Contains("\n"+err.Error(), "\n"+ask.Name+": ") {
					t.Errorf("%s is not told from %s by %s: %v", served, flavor, ask.Name, err)
				}
			}
		}
	}
}

// A server that does not answer is not the same.
func TestServerWithoutTheRoutes(t *testing.T) {
	h := httptest.NewServer(nil)
	defer h.Close()
	if err := Same(h.URL, "m", sim.VLLM); err == nil || strings.Count(err.Error(), "404 Not Found") != len(Asks) {
		t.Errorf("got %v", err)
	}
}
