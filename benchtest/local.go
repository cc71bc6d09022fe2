package benchtest

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// local is what this process and its host counted at one edge of the window.
type local struct {
	at time.Duration
	// waits is the histogram of how long goroutines waited to run, stops that
	// of how long the garbage collector stopped the process. Nil is unknown.
	waits, stops *metrics.Float64Histogram
	// stopped is the CPU time, of all CPUs of the scheduler, lost in such
	// stops; NaN is unknown.
	stopped float64
	// process is the CPU time of this process; 0 is unknown.
	process time.Duration
	// busy and all are the CPU time of the host, in units of its own; 0 is
	// unknown.
	busy, all uint64
	// wakes is how late the process woke up since the edge before; nil is
	// unknown.
	wakes *wakes
}

// readLocal reads the counters of this side; at is the time on the load's
// clock.
func readLocal(at time.Duration) *local {
	samples := []metrics.Sample{
		{Name: "/sched/latencies:seconds"}, {Name: "/sched/pauses/total/gc:seconds"}, {Name: "/cpu/classes/gc/pause:cpu-seconds"},
	}
	metrics.Read(samples)
	l := &local{at: at, waits: histogram(samples[0]), stops: histogram(samples[1]), stopped: math.NaN()}
	if samples[2].Value.Kind() == metrics.KindFloat64 {
		l.stopped = samples[2].Value.Float64()
	}
	l.process = processTime()
	l.busy, l.all = hostTime()
	return l
}

func histogram(s metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s.Value.Float64Histogram()
}

// Names of the readings of metric.Client that are judged or come from the
// edges.
const (
	readScheduler    = "scheduler_p99_sec"
	readWake         = "wake_p99_sec"
	readWakeMax      = "wake_max_sec"
	readStoppedMax   = "stopped_max_sec"
	readStoppedShare = "stopped_share"
	readProcess      = "process_cpus"
	readCPUs         = "cpus"
	readHost         = "host_busy_share"
	// The others come from the timelines.
	readLag        = "read_lag_sec"
	readStamp      = "stamp_late_sec"
	readOpened     = "new_connections"
	readClosed     = "closed_connections"
	readConnect    = "connect_p50_sec"
	readConnectMax = "connect_max_sec"
)

// readings are what both edges know of this side, into a map. What one of them
// does not know is left out.
func (from *local) readings(to *local, into map[string]float64) {
	if from == nil || to == nil || to.at <= from.at {
		return
	}
	seconds := (to.at - from.at).Seconds()
	cpus := to.cpus()
	into[readCPUs] = cpus
	if p99, ok := latencyBetween(from.waits, to.waits, 0.99); ok {
		into[readScheduler] = p99
	}
	if w := to.wakes; w != nil && w.n > 0 {
		into[readWake], into[readWakeMax] = w.p99.Seconds(), w.max.Seconds()
	}
	if lost := to.stopped - from.stopped; lost >= 0 {
		into[readStoppedShare] = lost / cpus / seconds
	}
	if longest, ok := latencyBetween(from.stops, to.stops, 1); ok {
		into[readStoppedMax] = longest
	} else if from.stops != nil && to.stops != nil {
		into[readStoppedMax] = 0 // it did not stop
	}
	if from.process > 0 && to.process > 0 {
		into[readProcess] = (to.process - from.process).Seconds() / seconds
	}
	// Counters of idle and stolen time have been seen to step back.
	if all := to.all - from.all; from.all > 0 && to.all > from.all && to.busy >= from.busy && to.busy-from.busy <= all {
		into[readHost] = float64(to.busy-from.busy) / float64(all)
	}
}

// cpus is how many CPUs the scheduler may use at once.
func (*local) cpus() float64 { return float64(runtime.GOMAXPROCS(0)) }

// latencyBetween is the quantile of what was added to the histogram between
// two readings, as the upper end of its bucket.
func latencyBetween(a, b *metrics.Float64Histogram, q float64) (float64, bool) {
	if a == nil || b == nil || len(a.Counts) != len(b.Counts) {
		return 0, false
	}
	var total uint64
	for i := range b.Counts {
		total += b.Counts[i] - a.Counts[i]
	}
	if total == 0 {
		return 0, false
	}
	rank := uint64(math.Ceil(q * float64(total)))
	var sum uint64
	for i := range b.Counts {
		sum += b.Counts[i] - a.Counts[i]
		if sum >= rank {
			upper := b.Buckets[i+1]
			if math.IsInf(upper, 1) {
				upper = b.Buckets[i]
			}
			return upper, true
		}
	}
	return 0, false
}
