package steady

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

// calibrate makes the simulations long: OPENLOOP_CALIBRATE=1.
var calibrate = os.Getenv("OPENLOOP_CALIBRATE") == "1"

var queues = map[string]func(rho float64) queue{
	"M/D/1, c² 1":              func(rho float64) queue { return queue{arrival.Poisson{Rate: rho}, fixed} },
	"M/M/1, c² 2":              func(rho float64) queue { return queue{arrival.Poisson{Rate: rho}, exponential} },
	"bursts of gap CV 2, c² 4": func(rho float64) queue { return queue{arrival.Gamma{Rate: rho, Burstiness: 0.25}, fixed} },
}

// outcomes are the shares of points called growing and sustained, of 3,000
// each (a standard error of at most 0.009). At a load of exactly 1 a queue
// that starts near empty does grow, as √n does, which is why three runs of it
// are called growing more often than 2.5 %.
var outcomes = []struct {
	queue              string
	runs, arrivals     int
	rho                float64
	growing, sustained float64
}{
	{"M/D/1, c² 1", 1, 1000, 0.70, 0.000, 1.000},
	{"M/D/1, c² 1", 1, 1000, 0.90, 0.000, 0.838},
	{"M/D/1, c² 1", 1, 1000, 1.00, 0.024, 0.303},
	{"M/D/1, c² 1", 1, 1000, 1.10, 0.805, 0.008},
	{"M/D/1, c² 1", 1, 1000, 1.20, 1.000, 0.000},
	{"M/D/1, c² 1", 3, 2000, 0.95, 0.000, 1.000},
	{"M/D/1, c² 1", 3, 2000, 1.00, 0.052, 0.944},
	{"M/D/1, c² 1", 3, 2000, 1.05, 0.962, 0.034},
	{"M/M/1, c² 2", 1, 1000, 0.70, 0.000, 0.994},
	{"M/M/1, c² 2", 1, 1000, 0.95, 0.002, 0.339},
	{"M/M/1, c² 2", 1, 2000, 0.85, 0.000, 0.946},
	{"M/M/1, c² 2", 1, 2000, 1.00, 0.024, 0.260},
	{"M/M/1, c² 2", 1, 2000, 1.05, 0.294, 0.047},
	{"M/M/1, c² 2", 1, 2000, 1.10, 0.804, 0.007},
	{"M/M/1, c² 2", 3, 1000, 0.90, 0.000, 0.959},
	{"M/M/1, c² 2", 3, 1000, 1.10, 0.944, 0.001},
	{"bursts of gap CV 2, c² 4", 1, 1000, 0.70, 0.000, 0.960},
	{"bursts of gap CV 2, c² 4", 1, 1000, 1.00, 0.023, 0.107},
	{"bursts of gap CV 2, c² 4", 1, 2000, 1.20, 0.976, 0.001},
}

// TestCalibration holds how often the verdict says what, on the queues of a
// server whose capacity is known.
func TestCalibration(t *testing.T) {
	points := 150
	if calibrate {
		points = 5000
	}
	t.Log("queue                       runs  arrivals  ρ      growing (tabled)  sustained (tabled)")
	for _, row := range outcomes {
		growing, sustained := queues[row.queue](row.rho).share(points, row.runs, 400, row.arrivals)
		t.Logf("%-26s  %d     %d      %.2f   %.3f (%.3f)     %.3f (%.3f)", row.queue, row.runs, row.arrivals, row.rho, growing, row.growing, sustained, row.sustained)
		for state, pair := range map[string][2]float64{"growing": {growing, row.growing}, "sustained": {sustained, row.sustained}} {
			got, want := pair[0], pair[1]
			if math.Abs(got-want) > 3.5*standardError(want, points)+0.002 {
				t.Errorf("%s, %d × %d arrivals at ρ %.2f: %s in %.3f of the points, tabled %.3f", row.queue, row.runs, row.arrivals, row.rho, state, got, want)
			}
		}
		if row.rho <= 0.95 && growing > 0.005+3*standardError(0.005, points) {
			t.Errorf("%s at ρ %.2f: a stable queue is called growing in %.3f of the points", row.queue, row.rho, growing)
		}
	}
}

// standardError is that of the difference between a share of so many points
// and a tabled one of 3,000.
func standardError(p float64, points int) float64 {
	p = min(0.999, max(0.001, p))
	return math.Sqrt(p * (1 - p) * (1/float64(points) + 1/3000.0))
}

// TestResolutionIsTheLoadCaughtWithPower80 offers the load that a verdict
// names as its resolution, and as many arrivals as it says another load needs.
func TestResolutionIsTheLoadCaughtWithPower80(t *testing.T) {
	points := 300
	if calibrate {
		points = 5000
	}
	const n = 2000
	v := Verdict{C2: 2, Resolution: resolution(2, n)}
	rows := []struct {
		name string
		rho  float64
		n    int
	}{
		{"the resolution of 2,000 arrivals", v.Resolution, n},
		{"the arrivals needed at ρ 1.2", 1.2, v.ArrivalsNeeded(1.2)},
	}
	for _, row := range rows {
		got, _ := queues["M/M/1, c² 2"](row.rho).share(points, 1, 400, row.n)
		t.Logf("%s: ρ %.3f, %d arrivals, called growing in %.3f", row.name, row.rho, row.n, got)
		if math.Abs(got-0.8) > 0.03+3*standardError(0.8, points) {
			t.Errorf("%s: ρ %.3f over %d arrivals is called growing in %.3f of the points, want 0.80", row.name, row.rho, row.n, got)
		}
	}
}

// TestBurstsNeedTheirMeasuredVariance: a verdict that takes bursty arrivals
// for Poisson ones calls too many loads at capacity growing.
func TestBurstsNeedTheirMeasuredVariance(t *testing.T) {
	points := 500
	if calibrate {
		points = 10_000
	}
	measured, poisson := 0, 0
	for i := range points {
		s, err := Of(queues["bursts of gap CV 2, c² 4"](1).run(uint64(i), 400, 1000))
		if err != nil {
			t.Fatal(err)
		}
		if s.growth() > growingZ*math.Sqrt(s.variance()) {
			measured++
		}
		if s.growth() > growingZ*math.Sqrt(float64(s.Arrivals)) {
			poisson++
		}
	}
	t.Logf("at capacity, of %d: growing by the measured variance %d, by Poisson's %d", points, measured, poisson)
	if measured > points*5/100 || poisson < points*10/100 {
		t.Errorf("at capacity, of %d: growing by the measured variance %d, want at most 5 %%; by Poisson's %d, want at least 10 %%", points, measured, poisson)
	}
}

// TestCriticalValues simulates the mean over runs of the Dickey–Fuller t of
// walks without drift: 5 % of them are below the tabled value.
func TestCriticalValues(t *testing.T) {
	points := 5000
	if calibrate {
		points = 100_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, runs := range []int{1, 2, 3, 4, 5, 8, 12, 20} {
		below := 0
		for range points {
			var mean float64
			for range runs {
				var s Series
				for k := 1; k < instants; k++ {
					s.N[k] = s.N[k-1] + int(math.Round(1000*r.NormFloat64()))
				}
				mean += s.dickeyFuller() / float64(runs)
			}
			if mean < critical(runs) {
				below++
			}
		}
		got := float64(below) / float64(points)
		t.Logf("%2d runs: critical %.3f, below it %.4f", runs, critical(runs), got)
		// The tabled values have two decimals: 0.005 of t is 0.001 of the 5 %.
		if math.Abs(got-0.05) > 3*math.Sqrt(0.05*0.95/float64(points))+0.002 {
			t.Errorf("%d runs: %.4f of walks have a mean t below %.3f, want 0.05", runs, got, critical(runs))
		}
	}
}

// TestRelaxationOfTheQueue: the time that the mean number in an M/M/1 queue
// that starts empty takes for the last e-fold before its stationary value is
// the relaxation time.
func TestRelaxationOfTheQueue(t *testing.T) {
	// The truncated chain, exactly: states 0…K in steps of dt.
	const rho, states, dt = 0.5, 60, 0.02
	p := make([]float64, states)
	p[0] = 1
	stationary := rho / (1 - rho)
	mean := func() (m float64) {
		for i, x := range p {
			m += float64(i) * x
		}
		return m
	}
	step := func() {
		next := make([]float64, states)
		for i, x := range p {
			up, down := rho*dt*x, dt*x
			if i == states-1 {
				up = 0
			} else {
				next[i+1] += up
			}
			if i == 0 {
				down = 0
			} else {
				next[i-1] += down
			}
			next[i] += x - up - down
		}
		p = next
	}
	relaxation := Relaxation(rho) / rho // in service times
	at := func(time float64) float64 {
		for range int(time / dt) {
			step()
		}
		return stationary - mean()
	}
	// The spectrum is continuous, so the decay is e^(−t/τ) times a power of t,
	// t^(−3/2), between which the power is divided out.
	t1, t2 := 8*relaxation, 4*relaxation
	first := at(t1)
	second := at(t2)
	rate := math.Log(first/second*math.Pow(t1/(t1+t2), 1.5)) / t2
	if got := 1 / rate; math.Abs(got/relaxation-1) > 0.1 {
		t.Errorf("the queue at ρ %v relaxes in %.2f service times, want %.2f", rho, got, relaxation)
	}
}
