//go:build linux && !docker

package killtest

import (
	"testing"

	"github.com/openloop-go/openloop/engines/vllm"
)

// launchers are the ways to start a server that are tried, in turns.
var launchers = []string{"process"}

// prepare makes what launchers need.
func prepare(string) (tearDown func(), err error) { return func() {}, nil }

// configure has a launcher start the server.
func configure(_ string, cfg *vllm.Config) {}

// containers are those of the victim that are left.
func containers(*testing.T, *victim) []string { return nil }
