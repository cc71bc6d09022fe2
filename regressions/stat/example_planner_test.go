package stat_test

import (
	"fmt"
	"math"

	"github.com/openloop-go/openloop/regressions/stat"
)

// Runs that vary by 5 % and a margin of 5 %: twelve runs of each arm are too
// few.
func ExamplePlanner() {
	p := stat.Planner{
		Layout: stat.Interleaved, S: 0.05,
		Rule: stat.Rule{Margin: math.Log(1.05), Worse: 0.0077, Same: 0.0166},
	}
	fmt.Printf("resolves %.1f %%, calls %.1f %% regressed\n", 100*math.Expm1(p.Resolvable(12)), 100*math.Expm1(p.Smallest(12)))
	fmt.Printf("needs a CV of at most %.1f %% or %v\n", 100*p.Largest(12), p.ToPass(0))
	// Output:
	// resolves 6.6 %, calls 7.4 % regressed
	// needs a CV of at most 3.8 % or 20 runs against a baseline of 20
}

func ExamplePlanner_Chances() {
	p := stat.Planner{
		Layout: stat.Interleaved, S: 0.05,
		Rule: stat.Rule{Margin: math.Log(1.05), Worse: 0.0077, Same: 0.0166},
	}
	c, err := p.Chances(stat.DefaultLooks(), 0, 2000, 1)
	fmt.Printf("an unchanged engine passes in %.0f %% after %.0f runs %v\n", 100*c.Within[3], c.Runs, err)
	// Output: an unchanged engine passes in 61 % after 9 runs <nil>
}

func ExamplePlanner_At() {
	p := stat.Planner{Layout: stat.Stored, Stored: 12, S: 0.01, Power: 0.90}
	fmt.Printf("%.1f %%\n", 100*p.At(3).MDE(0.0077))
	// Output: 2.7 %
}

// Three new runs against twelve stored ones, 1 % between runs.
func ExampleExpected() {
	e := stat.Stored.Expect(0.01, 12, 3)
	fmt.Printf("significant from %.1f %% on, found from %.1f %% on\n", 100*e.Line(0.0077), 100*e.MDE(0.0077))
	// Output: significant from 1.8 % on, found from 2.4 % on
}
