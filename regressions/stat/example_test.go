package stat_test

import (
	"fmt"
	"math"

	"github.com/openloop-go/openloop/regressions/stat"
)

// Twelve stored runs and three new ones of a metric that varies by 1 % between
// runs: what would they show, and from when on is it called regressed?
func Example() {
	test := stat.Test{Alpha: 0.0077}
	fmt.Printf("MDE %.1f %%\n", 100*test.MDE(0.01, 12, 3))
	margin := math.Log(1.05)
	fmt.Printf("called regressed from %.1f %% on\n", 100*math.Expm1(stat.Stored.Smallest(0.01, margin, 0.0077, 12, 12)))
	fmt.Println("no change is shown by", stat.Stored.ToPass(0.01, 0, margin, 0.0166, 12))
	// Output:
	// MDE 2.4 %
	// called regressed from 5.4 % on
	// no change is shown by 3 runs against a baseline of 12
}

func ExampleTest_MDE() {
	fmt.Printf("%.2f %%\n", stat.Test{Alpha: 0.05, Sides: 2}.MDE(2, 5, 5))
	// Output: 4.05 %
}

func ExampleTest_Quick() {
	fmt.Printf("%.2f %%\n", stat.Test{Alpha: 0.05, Sides: 2}.Quick(2, 5, 5))
	// Output: 4.04 %
}

func ExampleTest_Factor() {
	fmt.Printf("%.2f standard errors\n", stat.Test{Alpha: 0.05}.Factor(13))
	// Output: 2.63 standard errors
}

func ExampleTest_Critical() {
	fmt.Printf("%.3f\n", stat.Test{Alpha: 0.05, Sides: 2}.Critical(4))
	// Output: 2.776
}

// A CV of 3+3 runs may well be half as large again.
func ExampleCVUpper() {
	fmt.Printf("%.1f %%\n", stat.CVUpper(2, 4, 0.80))
	// Output: 3.1 %
}

func ExampleCVLower() {
	fmt.Printf("%.1f %%\n", stat.CVLower(5, 13, 0.80))
	// Output: 4.4 %
}

func ExamplePrior() {
	sd, df, used := stat.Prior(0.8, 4, 1.1, 30)
	fmt.Printf("%.2f %% with %.0f degrees of freedom, history used: %t\n", sd, df, used)
	// Output: 1.02 % with 14 degrees of freedom, history used: true
}

// A decode that became 11 % slower, three runs against five.
func ExampleUnpaired() {
	logs := func(ms ...float64) []float64 {
		for i := range ms {
			ms[i] = math.Log(ms[i])
		}
		return ms
	}
	e, err := stat.Unpaired(logs(5.78, 5.81, 5.74, 5.80, 5.77), logs(6.42, 6.45, 6.41), stat.Floor)
	if err != nil {
		panic(err)
	}
	low, high := e.Interval(0.95)
	fmt.Printf("%+.1f %%, %+.1f … %+.1f\n", 100*math.Expm1(e.Diff), 100*math.Expm1(low), 100*math.Expm1(high))
	fmt.Println(stat.Rule{Margin: math.Log(1.05), Worse: 0.0077, Same: 0.0166}.Decide(e))
	// Output:
	// +11.2 %, +10.3 … +12.0
	// slower
}

func ExamplePaired() {
	e, err := stat.Paired([]float64{0.01, 0.02, 0.00, 0.01, 0.01}, stat.Floor)
	fmt.Printf("%.3f ± %.4f %v\n", e.Diff, e.SE, err)
	_, err = stat.Paired([]float64{0.01, 0.02, 0.00}, stat.Floor)
	fmt.Println(err)
	// Output:
	// 0.010 ± 0.0032 <nil>
	// stat: pairs: have 3, need at least 4
}

// Five starts that differ by 2 % say more of the next start than any number of
// runs on it.
func ExampleStarts() {
	base := [][]float64{{0.00, 0.01}, {0.03, 0.02}, {-0.02, -0.01}, {0.01, 0.01}, {-0.01, 0.00}}
	e, err := stat.Starts(base, [][]float64{{0.05, 0.06, 0.05}}, stat.Floor)
	fmt.Printf("%s %.3f ± %.3f, p %.3f %v\n", e.Design, e.Diff, e.SE, e.AtMost(0), err)
	// Output: starts 0.049 ± 0.017, p 0.021 <nil>
}

func ExamplePairedStarts() {
	diffs := [][]float64{{0.05, 0.06}, {0.04, 0.05}, {0.07, 0.06}, {0.05, 0.05}, {0.06, 0.06}}
	e, err := stat.PairedStarts(diffs, 1, stat.Floor)
	fmt.Printf("%s %.3f ± %.3f %v\n", e.Design, e.Diff, e.SE, err)
	// Output: paired-starts 0.055 ± 0.008 <nil>
}

func ExampleEstimate_AtLeast() {
	e := stat.Estimate{Diff: 0.01, SE: 0.01, DF: 13}
	fmt.Printf("worse at all: p %.2f; worse by 5 %%: p %.4f; sees %.3f\n", e.AtMost(0), e.AtLeast(0.05), e.MDE(0.0077))
	// Output: worse at all: p 0.17; worse by 5 %: p 0.0008; sees 0.037
}

func ExampleEstimate_Line() {
	e := stat.Estimate{SE: 0.01, DF: 13}
	fmt.Printf("significant from %.3f on, caught from %.3f on\n", e.Line(0.0077), e.MDE(0.0077))
	// Output: significant from 0.028 on, caught from 0.037 on
}

func ExampleEstimate_Smallest() {
	e := stat.Estimate{SE: 0.01, DF: 13}
	fmt.Printf("%.3f\n", e.Smallest(0.05, 0.0077))
	// Output: 0.059
}

// Among ten comparisons each look must be ten times as sure, and a bit more.
func ExampleNominal() {
	for _, k := range []float64{1, 10} {
		p, err := stat.Nominal(stat.DefaultLooks(), 0.025/k)
		fmt.Printf("%.5f %v\n", p, err)
	}
	// Output:
	// 0.00770 <nil>
	// 0.00068 <nil>
}

func ExampleValidateLooks() {
	fmt.Println(stat.ValidateLooks([]int{2, 5}))
	// Output: looks: the first is at 2 runs, need at least 3
}

func ExampleLayout_Resolvable() {
	fmt.Printf("%.1f %%\n", stat.Interleaved.Resolvable(5, 0.0166, 12, 12))
	// Output: 6.4 %
}

func ExampleLayout_ToRegress() {
	fmt.Println(stat.Stored.ToRegress(0.05, math.Log(1.06), 0.0077, 12))
	// Output: 10 runs against a baseline of 12
}

func ExampleOrderInterval() {
	fmt.Println(stat.OrderInterval(1000, 0.99, 0.95))
	fmt.Println(stat.OrderInterval(300, 0.99, 0.95))
	// Output:
	// 983 997 true
	// 293 0 false
}

func ExampleSectioned() {
	values := make([]float64, 200)
	for i := range values {
		values[i] = 40 + float64(i%7) + float64(i/20)
	}
	mean := func(xs []float64) (m float64) {
		for _, x := range xs {
			m += x / float64(len(xs))
		}
		return m
	}
	low, high, err := stat.Sectioned(values, mean, 0.95)
	fmt.Printf("%.1f … %.1f %v\n", low, high, err)
	// Output: 45.3 … 49.6 <nil>
}

func ExampleAttainment() {
	good := make([]bool, 300)
	for i := range good {
		good[i] = i%30 != 0
	}
	s := stat.Attainment(good, 0.95)
	fmt.Printf("%.1f %% (%.1f … %.1f)\n", 100*s.P, 100*s.Low, 100*s.High)
	// Output: 96.7 % (93.4 … 98.3)
}

func ExampleQuantileNeeds() {
	fmt.Println(stat.QuantileNeeds(0.99, 0), stat.QuantileNeeds(0.99, 10), stat.QuantileHolds(0.99, 2000, 10))
	// Output: 459 2010 false
}
