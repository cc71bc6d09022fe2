// Package regressions judges runs against a stored baseline.
package regressions

import (
	"errors"
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

// Metric is one gated metric.
type Metric struct {
	Name   string
	Margin float64 // 0: the gate's margin, or the metric's own default
}

// Gate is what may be called a regression.
type Gate struct {
	Margin      float64  // 0 = 5 %
	Metrics     []Metric // nil = the default set
	FalseAlarms float64  // of the whole job; 0 = 2.5 %
	Gates       int      // comparisons (points with a baseline) in the whole job; 0 = 1
	Looks       []int    // nil = 3, 5, 8, 12
}

// Validate reports everything that is wrong with the gate.
func (g Gate) Validate() error { panic("later") }

// Run is what a comparison needs of one run.
type Run struct {
	Index   int // decides the arrivals: run i replays run i of the baseline
	Start   int
	StartID string
	Seed    uint64
	Time    time.Time
	Values  map[string]float64
	Missing map[string]string // why a metric has no value
}

// Arm is the runs of one engine at one point, with what a comparison must
// know of them.
type Arm struct {
	Test, PointName string
	Point           []metric.Pair
	PointHash       string
	Key, Identity   []metric.Pair
	Virtual         bool
	Cache           string
	Runs            []Run
}

// FromRecords makes an arm of the runs of one point; metrics nil is all that
// package metric knows.
func FromRecords(records []*metric.Record, metrics []string) (Arm, error) { panic("later") }

// Baseline is an arm that was accepted and stored.
type Baseline struct {
	Arm
	Recorded time.Time
	Commit   string
}

// ErrNoBaseline is matched by errors.Is when there is no baseline.
var ErrNoBaseline = errors.New("no baseline")

func ReadBaseline(path string) (*Baseline, error) { panic("later") }

// WriteBaseline writes a new file; an existing one only when overwrite is
// true, and never a foreign one.
func WriteBaseline(path string, b *Baseline, overwrite bool) error { panic("later") }

// AppendStart adds the runs of further starts to the baseline at path.
func AppendStart(path string, b *Baseline) error { panic("later") }

// BaselinePath is dir/test/point@key.bench.
func BaselinePath(dir, test, point string, key []metric.Pair) string { panic("later") }

// CountBaselines counts the baselines of the module that dir is in.
func CountBaselines(dir string) (int, error) { panic("later") }

// Status is the verdict in one word.
type Status string

const (
	Pass         Status = "pass"
	Improved     Status = "improved"
	Regressed    Status = "regressed"
	Inconclusive Status = "inconclusive"
	Invalid      Status = "invalid"
)

// Green reports whether the status lets a test pass.
func (s Status) Green() bool { return s == Pass || s == Improved }

// Finding is what was found of one metric.
type Finding struct {
	Metric string
	Status Status
}

// Verdict is the outcome of one look.
type Verdict struct {
	Status   Status
	Reason   string
	Remedy   string
	Findings []Finding
	NextLook int // candidate runs at which to judge again; 0 when final
}

// Text is the verdict in several lines; the first says what and by how much.
func (v Verdict) Text() string { panic("later") }

// Judge takes one look at the runs that there are.
func Judge(base *Baseline, candidate Arm, g Gate) Verdict { panic("later") }

// Compare judges one stored baseline against another.
func Compare(old, new *Baseline, g Gate) Verdict { panic("later") }
