//go:build linux

package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// patience is how long, of all turns together, a host that is busy with other
// things is waited for.
type patience struct{ left time.Duration }

const (
	// calmShare is the share of its CPUs up to which a host is calm, seen for
	// calmFor.
	calmShare, calmFor = 0.15, time.Second
)

// wait waits until the host is calm, or until there is no patience left.
func (p *patience) wait() {
	for p.left > 0 {
		busy := hostBusy()
		time.Sleep(calmFor)
		p.left -= calmFor
		if busy() <= calmShare {
			return
		}
	}
}

// host is what the host's CPUs did in a run's window.
type host struct {
	// busy is the share of them that was busy, client the number of CPUs that
	// the client took, and others the share that neither the client took nor the
	// server.
	busy, client, others float64
}

// hostOf is that of a run, whose server took so many CPUs.
func hostOf(out offered, server float64) host {
	h := host{busy: out.Readings["host_busy_share"], client: out.Readings["process_cpus"]}
	h.others = max(0, h.busy-(h.client+server)/float64(runtime.NumCPU()))
	return h
}

const (
	// idleShare is the share of the host's CPUs up to which it has idle CPU, and
	// othersShare what others may take of them: above it nothing is on time.
	idleShare, othersShare = 0.75, 0.10
)

// calm reports whether the host had idle CPU, and nothing else to do.
func (h host) calm() bool { return h.busy <= idleShare && h.others <= othersShare }

// judged are the runs while the host was calm, and all where it never was.
func judged[T interface{ calm() bool }](turns []T) (runs []T, calm bool) {
	for _, t := range turns {
		if t.calm() {
			runs = append(runs, t)
		}
	}
	if len(runs) > 0 {
		return runs, true
	}
	return turns, false
}

// medianOf is the median of something of the runs.
func medianOf[T any](turns []T, of func(T) float64) float64 {
	var v []float64
	for _, t := range turns {
		v = append(v, of(t))
	}
	return median(v)
}

// verdicts says how often each verdict came.
func verdicts[T any](turns []T, of func(T) string) (text string) {
	var all []string
	for _, t := range turns {
		all = append(all, of(t))
	}
	slices.Sort(all)
	for _, v := range slices.Compact(slices.Clone(all)) {
		n := 0
		for _, w := range all {
			if w == v {
				n++
			}
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %d of %d", v, n, len(all))
	}
	return text
}
