package secret

import (
	"fmt"
	"testing"
)

type door struct{ key string }

func (d door) Format(to fmt.State, verb rune) { Format(to, verb, "a door", "secret.door{}") }

func TestNoVerbPrintsASecret(t *testing.T) {
	for verb, want := range map[string]string{
		"%v": "a door", "%+v": "a door", "%s": "a door", "%q": `"a door"`, "%#v": "secret.door{}",
		"%d": "a door", "%x": "a door", "%t": "a door",
	} {
		got := fmt.Sprintf(verb, door{"sesame-open"})
		if got != want {
			t.Errorf("%s: got %s", verb, got)
		}
	}
}
