package lock

import (
	"os"
	"testing"
)

func TestHolderThatSaysNothing(t *testing.T) {
	folder := t.TempDir()
	for _, text := range []string{"", "{", `{"pid":"x"}`} {
		if err := os.WriteFile(holderFile(folder, CPU), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readHolder(folder, CPU).String(); got != "another process holds" {
			t.Errorf("%q: %s", text, got)
		}
	}
}
