package benchtest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/openloop-go/openloop/engines"
)

func TestWhatCouldNotBeFoundOutIsListed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := one(t, quick(), usual())
		assert.Equal(t, []string{
			"engine", "engine version or commit", "model revision", "hardware and count", "driver", "CUDA or ROCm", "torch",
			"server command line", "server settings", "server environment", "NUMA pinning", "client host and network", "GPU clocks and temperature",
		}, r.Unrecorded)
	})
	inBubble(t, func(t *testing.T) {
		engine := struct {
			*script
			*describer
		}{quick(), &describer{engines.Identity{
			Engine: "vllm", Version: "0.26", Model: "model", Revision: "abc", Hardware: "1x H100", Command: "vllm serve",
			Settings: map[string]string{"driver": "550", "cuda": "12.4", "torch": "2.9", "env-vllm_server_dev_mode": "1"},
		}}}
		r := one(t, engine, usual())
		assert.Equal(t, []string{"NUMA pinning", "client host and network", "GPU clocks and temperature"}, r.Unrecorded)
	})
}
