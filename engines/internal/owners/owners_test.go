package owners

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every kind can be told from the others, has all that is said of one, and a
// package of its own is there and named in what is to be done.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kinds {
		if got, known := By(k.Owner); !known || got != k || seen[k.Owner] || k.Name == "" || k.Cold == "" {
			t.Errorf("%+v by its owner is %+v, %t", k, got, known)
		}
		seen[k.Owner] = true
		if k.Package == "" {
			if !strings.HasPrefix(k.Cold, k.Name+" has no flush") {
				t.Errorf("%s has no package here, and this is to be done: %s", k.Name, k.Cold)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join("..", "..", k.Package)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(k.Cold, "engines/"+k.Package) {
			t.Errorf("engines/%s is not named: %s", k.Package, k.Cold)
		}
	}
	if k, known := By("acme"); known || k != (Kind{}) {
		t.Errorf("acme is %+v", k)
	}
}
