package assert

import "testing"

func TestNumbersAsTheyAreShown(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(1234567), "1,234,567"}, {count(-1500), "-1,500"},
		{many(1, "run"), "1 run"}, {many(0, "run"), "0 runs"}, {many(1200, "run"), "1,200 runs"},
		{seconds(0), "0s"}, {seconds(0.00578), "5.78ms"}, {seconds(1.23456), "1.235s"}, {seconds(70.7049), "1m10.7s"}, {seconds(1e-7), "100ns"},
		{rate(6.9), "6.90"}, {rate(11.747), "11.75"}, {rate(123.45), "123.5"}, {rate(-0.5), "-0.50"}, {exact(11.75), "11.75"},
		{share(0), "0.0 %"}, {share(1), "100.0 %"}, {share(0.974), "97.4 %"}, {share(0.99996), "99.996 %"}, {share(0.9999999), "99.999 %"},
		{share(0.0001), "0.01 %"}, {share(1 - 1e-12), "100.0 %"},
		{label([]int{2}), "run 2"}, {label([]int{0, 2, 3}), "runs 0,2,3"},
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}
