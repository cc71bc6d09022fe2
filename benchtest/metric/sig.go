package metric

import (
	"io"
	"time"
)

func (t *Timeline) TTFT() (time.Duration, bool)             { panic("later") }
func (t *Timeline) ServiceTTFT() (time.Duration, bool)      { panic("later") }
func (t *Timeline) TPOT() (time.Duration, bool)             { panic("later") }
func (t *Timeline) E2E() (time.Duration, bool)              { panic("later") }
func (t *Timeline) Lag() (time.Duration, bool)              { panic("later") }
func (t *Timeline) FirstContentTime() (time.Duration, bool) { panic("later") }
func (t *Timeline) Failed() bool                            { return t.Failure != "" }

// SummariseGaps sets ZeroGaps and GapMax from Gaps.
func (t *Timeline) SummariseGaps() { panic("later") }

func (s SLO) Validate() error       { panic("later") }
func (s SLO) Good(t *Timeline) bool { panic("later") }
func (s SLO) String() string        { panic("later") }

func Quantile(sorted []float64, p float64) (float64, error) { panic("later") }

type TooFew struct {
	P       float64
	N, Need int
}

func (e *TooFew) Error() string { panic("later") }

type Absent struct{ Metric, Why string }

func (e *Absent) Error() string { panic("later") }

func (r *Record) Value(name string) (float64, error) { panic("later") }

// PooledValue is the metric over the requests of several runs together.
func PooledValue(name string, records ...*Record) (float64, error) { panic("later") }
func (r *Record) Counted() []*Timeline                             { panic("later") }
func (r *Record) Attainment(s SLO) (good, total int)               { panic("later") }
func (r *Record) Goodput(s SLO) (float64, error)                   { panic("later") }
func (r *Record) InFlightAt(t time.Duration) int                   { panic("later") }
func (r *Record) Valid() bool                                      { return len(r.Problems) == 0 }
func (r *Record) GapsAreTokens() bool                              { panic("later") }

// Summarise fills GapSummary from the timelines' gaps. The driver calls it
// once, when the run is complete and before the gaps are dropped.
func (r *Record) Summarise() { panic("later") }

func WriteRecords(w io.Writer, records ...*Record) error { panic("later") }
func ReadRecords(r io.Reader) ([]*Record, error)         { panic("later") }
func Hash(pairs []Pair) string                           { panic("later") }
