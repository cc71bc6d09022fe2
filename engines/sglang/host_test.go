package sglang

import (
	"testing"

	"github.com/openloop-go/openloop/engines"
)

// What was started here can be held and tells its devices and its death; what was attached to
// can be held, and its devices are elsewhere.
func TestAbilitiesOfTheHost(t *testing.T) {
	var started, attached engines.Engine = &Server{}, &Engine{}
	for name, engine := range map[string]engines.Engine{"Server": started, "Engine": attached} {
		if _, ok := engine.(engines.Holder); !ok {
			t.Errorf("%s cannot be held", name)
		}
		if _, ok := engine.(engines.Sampler); ok != (engine == started) {
			t.Errorf("%s tells its devices: %t", name, ok)
		}
		if _, ok := engine.(engines.Mortal); ok != (engine == started) {
			t.Errorf("%s tells of its death: %t", name, ok)
		}
	}
}
