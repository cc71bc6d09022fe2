package launch_test

import (
	"os"
	"testing"

	"github.com/openloop-go/openloop/engines/internal/servertest"
)

func TestMain(m *testing.M) {
	servertest.Unset()
	os.Exit(m.Run())
}
