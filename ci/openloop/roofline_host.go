package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/internal/descriptors"
)

// describe takes what this host is from a record, and adds what it is doing.
func (m *rooflineRun) describe(r *metric.Record) {
	for _, p := range r.Identity {
		if name, ours := strings.CutPrefix(p.Key, "client-"); ours || p.Key == "go" || p.Key == "openloop" {
			m.out.Host = append(m.out.Host, metric.Pair{Key: name, Value: p.Value})
		}
	}
	add := func(key, value string) {
		m.out.Host = append(m.out.Host, metric.Pair{Key: key, Value: value})
	}
	add("gomaxprocs", strconv.Itoa(runtime.GOMAXPROCS(0)))
	if n := descriptors.Limit(); n > 0 {
		add("open-files", strconv.Itoa(n))
	}
	if m.load != nil {
		add("load-average", strconv.FormatFloat(*m.load, 'f', 2, 64))
	}
	slices.SortStableFunc(m.out.Host, func(a, b metric.Pair) int { return strings.Compare(a.Key, b.Key) })
}

// look takes note of what this host is doing before it is measured.
func (m *rooflineRun) look() {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.load = loadAverage(string(text))
	}
	if m.load != nil {
		m.out.Busy = busyHost(*m.load, runtime.NumCPU())
	}
}

// loadAverage is that of the last minute; nil is unknown.
func loadAverage(text string) *float64 {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	if x, err := strconv.ParseFloat(fields[0], 64); err == nil && x >= 0 {
		return &x
	}
	return nil
}

// busyShare is the load average ÷ CPUs from which a host is called busy. A
// roofline that was just made adds about a sixth of what it takes to it.
const busyShare = 0.5

// busyHost says that a host is busy by its load average; empty is that it is not.
func busyHost(load float64, cpus int) string {
	if load < busyShare*float64(cpus) {
		return ""
	}
	return fmt.Sprintf("the load average was %.2f on %s when this began: with nothing else running it may hold more", load, plural(cpus, "CPU"))
}
