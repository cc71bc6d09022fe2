package main

import (
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
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			add("load-average", fields[0])
		}
	}
	slices.SortStableFunc(m.out.Host, func(a, b metric.Pair) int { return strings.Compare(a.Key, b.Key) })
}
