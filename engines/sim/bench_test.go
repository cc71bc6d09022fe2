package sim_test

import (
	"testing"
	"testing/synctest"

	"github.com/openloop-go/openloop/engines/sim"
)

func BenchmarkHTTPX(b *testing.B) {
	t := &testing.T{}
	_ = t
	for b.Loop() {
		synctestRun(func() {
			m, err := sim.Open(b.Context(), sim.Config{})
			if err != nil {
				b.Fatal(err)
			}
			overHTTP(m, chat.at(12.5, 5), 500)
			m.Close()
		})
	}
}
func synctestRun(f func()) { f() }

var _ = synctest.Test

func TestProf(t *testing.T) {
	for range 8 {
		synctest.Test(t, func(t *testing.T) {
			m := sim.New(t, sim.Config{})
			overHTTP(m, chat.at(12.5, 5), 500)
		})
	}
}
