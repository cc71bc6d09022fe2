package stat_test

import (
	"fmt"
	"log"

	"github.com/openloop-go/openloop/regressions/stat"
)

// A margin of 5 %, and the slowdown of the engine that it stands for.
func ExampleAtLoad() {
	for _, share := range []float64{0, 1.0 / 3, 0.88} {
		l, err := stat.AtLoad(share)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f of the capacity: 5 %% of p50 TPOT are %.1f %% of the decode\n", share, 100*l.StandsFor(0.05))
	}
	// Output:
	// 0.00 of the capacity: 5 % of p50 TPOT are 5.0 % of the decode
	// 0.33 of the capacity: 5 % of p50 TPOT are 4.3 % of the decode
	// 0.88 of the capacity: 5 % of p50 TPOT are 2.7 % of the decode
}

// What twelve replayed runs resolve of an engine with 1 % of noise, and with
// other arrivals than the baseline's.
func ExampleLoad() {
	for _, share := range []float64{0, 1.0 / 3, 0.7, 0.88} {
		l, err := stat.AtLoad(share)
		if err != nil {
			log.Fatal(err)
		}
		same := l.Margin(stat.Replayed, 0.01, 0.0166, 12, 12)
		other := l.Margin(stat.Stored, 0.01, 0.0166, 12, 12)
		fmt.Printf("%.2f: %.1f %%, %.1f %% with other arrivals\n", share, 100*same, 100*other)
	}
	// Output:
	// 0.00: 1.4 %, 1.3 % with other arrivals
	// 0.33: 1.9 %, 3.5 % with other arrivals
	// 0.70: 3.0 %, 9.5 % with other arrivals
	// 0.88: 4.3 %, 15.4 % with other arrivals
}

func ExampleLoad_StandsFor() {
	l, _ := stat.AtLoad(4 / 14.1)
	fmt.Printf("%.1f %%\n", 100*l.StandsFor(0.05))
	// Output:
	// 4.5 %
}

func ExampleLoad_Shows() {
	l, _ := stat.AtLoad(12.5 / 14.1)
	fmt.Printf("%.0f %%\n", 100*l.Shows(0.10))
	// Output:
	// 19 %
}

// Runs with replayed arrivals vary less.
func ExampleLoad_CV() {
	l, _ := stat.AtLoad(0.57)
	fmt.Printf("%.1f %% and %.1f %%\n", 100*l.CV(stat.Replayed, 0.02), 100*l.CV(stat.Stored, 0.02))
	// Output:
	// 3.6 % and 6.0 %
}

func ExampleLoad_Margin() {
	l, _ := stat.AtLoad(0)
	fmt.Printf("%.1f %%\n", 100*l.Margin(stat.Replayed, 0.02, 0.0166, 12, 12))
	// Output:
	// 2.7 %
}
