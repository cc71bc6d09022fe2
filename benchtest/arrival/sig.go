package arrival

import (
	"iter"
	"time"
)

type Poisson struct{ Rate float64 }
type Constant struct{ Rate float64 }
type Gamma struct{ Rate, Burstiness float64 }
type Ramp struct {
	From, To float64
	Over     time.Duration
}
type Steps []Step
type Step struct {
	Rate float64
	For  time.Duration
}

func (p Poisson) Times(seed uint64) iter.Seq[time.Duration]  { panic("later") }
func (p Constant) Times(seed uint64) iter.Seq[time.Duration] { panic("later") }
func (p Gamma) Times(seed uint64) iter.Seq[time.Duration]    { panic("later") }
func (p Ramp) Times(seed uint64) iter.Seq[time.Duration]     { panic("later") }
func (p Steps) Times(seed uint64) iter.Seq[time.Duration]    { panic("later") }

func (p Poisson) MeanRate(over time.Duration) float64  { panic("later") }
func (p Constant) MeanRate(over time.Duration) float64 { panic("later") }
func (p Gamma) MeanRate(over time.Duration) float64    { panic("later") }
func (p Ramp) MeanRate(over time.Duration) float64     { panic("later") }
func (p Steps) MeanRate(over time.Duration) float64    { panic("later") }

func (p Poisson) Validate() error  { panic("later") }
func (p Constant) Validate() error { panic("later") }
func (p Gamma) Validate() error    { panic("later") }
func (p Ramp) Validate() error     { panic("later") }
func (p Steps) Validate() error    { panic("later") }

func (p Poisson) String() string  { panic("later") }
func (p Constant) String() string { panic("later") }
func (p Gamma) String() string    { panic("later") }
func (p Ramp) String() string     { panic("later") }
func (p Steps) String() string    { panic("later") }

func Validate(p Process) error                        { panic("later") }
func String(p Process) string                         { panic("later") }
func SelfTest(times []time.Duration, p Process) error { panic("later") }
func GapCV2(times []time.Duration) float64            { panic("later") }
