// Package steady judges the stability of an open loop.
package steady

import (
	"time"

	"github.com/openloop-go/openloop/benchtest/metric"
)

type Series struct {
	Arrivals  int
	Window    time.Duration
	N         [51]int
	Slices    [21]int
	GapCV2    float64
	OutputCV2 float64
}

func Of(r *metric.Record) (Series, error) { panic("later") }

type State string

const (
	Growing   State = "growing"
	Sustained State = "sustained"
	Undecided State = "undecided"
)

type Verdict struct {
	State       State
	Runs        int
	Arrivals    int
	Z           float64
	DF          float64
	DFCritical  float64
	Growth      float64 // requests an arrival
	GrowthUpper float64
	C2          float64
	Resolution  float64
	// Overload is set when State is Growing.
	Overload *Overload
}

func (v Verdict) ArrivalsNeeded(rho float64) int { panic("later") }
func (v Verdict) String() string                 { panic("later") }

func Judge(series ...Series) (Verdict, error)                 { panic("later") }
func JudgeRecords(records ...*metric.Record) (Verdict, error) { panic("later") }

type Overload struct {
	Offered   float64 // req/s
	Capacity  float64 // req/s
	Growth    float64 // requests per second
	Overshoot float64
	Duration  time.Duration
}

func (o Overload) Wait(t time.Duration) time.Duration { panic("later") }
func (o Overload) String() string                     { panic("later") }

// Relaxation is ρ/(1−√ρ)² arrivals; +Inf from ρ = 1 on.
func Relaxation(rho float64) float64 { panic("later") }

// Cut is the number of arrivals to settle for: max(10 % of the arrivals, 3
// mean request durations = 3·inFlight, min(relaxation, 30 % of the arrivals)).
// inFlight is λW̄, the mean number in flight; rho 0 is unknown.
func Cut(arrivals int, inFlight, rho float64) int { panic("later") }
