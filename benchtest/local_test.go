package benchtest

import (
	"math"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestReadingsAreOfBothEdges(t *testing.T) {
	buckets := []float64{0, 0.001, 0.010, math.Inf(1)}
	at := func(when time.Duration, waits, stops []uint64, stopped float64, process time.Duration, busy, all uint64, w *wakes) *local {
		l := &local{at: when, stopped: stopped, process: process, busy: busy, all: all, wakes: w}
		if waits != nil {
			l.waits = &metrics.Float64Histogram{Counts: waits, Buckets: buckets}
		}
		if stops != nil {
			l.stops = &metrics.Float64Histogram{Counts: stops, Buckets: buckets}
		}
		return l
	}
	all := at(10*time.Second, []uint64{500, 7, 0}, []uint64{3, 0, 0}, 1, 20*time.Second, 700, 1000, nil)
	cpus := all.cpus()
	for _, c := range []struct {
		name     string
		from, to *local
		want     map[string]float64
	}{
		{"no edge", nil, nil, map[string]float64{}},
		{"one edge", all, nil, map[string]float64{}},
		{"edges at one instant", all, all, map[string]float64{}},
		{"both know everything", all,
			at(20*time.Second, []uint64{598, 8, 1}, []uint64{3, 2, 0}, 1+cpus*0.5, 35*time.Second, 1500, 2000, &wakes{n: 9, p99: 3 * time.Millisecond, max: 4 * time.Millisecond}),
			map[string]float64{
				readCPUs: cpus, readScheduler: 0.010, readWake: 0.003, readWakeMax: 0.004,
				readStoppedShare: 0.05, readStoppedMax: 0.010, readProcess: 1.5, readHost: 0.8,
			}},
		{"nothing happened", all,
			at(20*time.Second, []uint64{500, 7, 0}, []uint64{3, 0, 0}, 1, 20*time.Second, 700, 2000, &wakes{}),
			map[string]float64{readCPUs: cpus, readStoppedShare: 0, readStoppedMax: 0, readProcess: 0, readHost: 0}},
		{"nothing is known", at(10*time.Second, nil, nil, math.NaN(), 0, 0, 0, nil), at(20*time.Second, nil, nil, math.NaN(), 0, 0, 0, nil),
			map[string]float64{readCPUs: cpus}},
		{"the last bucket has no end", all, at(20*time.Second, []uint64{500, 7, 5}, nil, math.NaN(), 0, 0, 0, nil),
			map[string]float64{readCPUs: cpus, readScheduler: 0.010}},
	} {
		got := map[string]float64{}
		c.from.readings(c.to, got)
		assert.Equal(t, c.want, got, c.name)
	}
}

func TestHostTicks(t *testing.T) {
	for _, c := range []struct {
		name, stat string
		busy, all  uint64
	}{
		{"a page of Linux", "cpu  100 10 50 800 40 1 2 7 30 3\ncpu0 1 2 3\n", 170, 1010},
		{"nothing", "", 0, 0},
		{"another page", "intr 1 2 3 4 5 6 7 8 9\n", 0, 0},
		{"too few fields", "cpu 1 2 3\n", 0, 0},
		{"no numbers", "cpu a b c d e f g h\n", 0, 0},
	} {
		busy, all := hostTicks([]byte(c.stat))
		assert.Equal(t, []uint64{c.busy, c.all}, []uint64{busy, all}, c.name)
	}
}

// This process is known to itself on every system.
func TestThisProcessHasUsedTheCPU(t *testing.T) {
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
	}
	assert.Positive(t, processTime())
}
