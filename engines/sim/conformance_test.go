package sim_test

import (
	"net"
	"testing"

	"github.com/openloop-go/openloop/engines/enginetest"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
)

// TestConformance runs the suite that every engine passes on each form.
func TestConformance(t *testing.T) {
	for _, flavor := range []sim.Flavor{sim.VLLM, sim.SGLang, sim.TensorRTLLM} {
		cfg := sim.Config{Flavor: flavor, DevMode: true}
		t.Run(string(flavor)+" in arithmetic", func(t *testing.T) {
			model, err := sim.NewModel(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := enginetest.Test(t.Context(), model, enginetest.Options{Restart: true}); err != nil {
				t.Error(err)
			}
		})
		t.Run(string(flavor)+" in memory", func(t *testing.T) {
			inBubble(t, cfg, func(t *testing.T, m *sim.Memory) {
				if err := enginetest.Test(t.Context(), m, enginetest.Options{Restart: true}); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("on a port", func(t *testing.T) {
		server, err := sim.NewServer(sim.Config{DevMode: true})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve(listener)
		engine, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://" + listener.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		if err := enginetest.Test(t.Context(), engine, enginetest.Options{}); err != nil {
			t.Error(err)
		}
	})
}
