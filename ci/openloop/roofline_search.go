package main

import "math"

// climb looks for the largest load that is held: up until one is not, down
// while none was, and between where they are far apart. What it finds is then
// tried for longer, and less where that is not held.
type climb struct {
	// first is where it begins; least and most bound it.
	first, least, most float64
	// held is the largest load below failed that was held so far, and failed the
	// smallest that was not; zero is none.
	held, failed float64
	// seen are all loads that were held.
	seen []float64
	// lasting is the load that is to be held for longer, once one was tried so;
	// zero is none. It was held so confirmed times.
	lasting   float64
	confirmed int
	// cut is a climb that ended for time, so that there may be more to learn.
	cut bool
}

// near is how far apart what is held and what is not may be in the end: the
// double, in two digits.
const near = 2.1

// down is the next load to try for longer ÷ one that was not held so long.
const down = 0.7

// confirmTimes is how often a load is to be held for longer.
const confirmTimes = 2

// next is the load to try; false when there is nothing more to learn.
func (c *climb) next() (load float64, more bool) {
	switch {
	case c.held == 0 && c.failed == 0:
		load = min(max(c.first, c.least), c.most)
	case c.failed == 0:
		load = min(2*c.held, c.most)
	case c.held == 0:
		load = max(c.failed/4, c.least)
	case c.failed <= near*c.held:
		return 0, false
	default:
		load = math.Sqrt(c.held * c.failed)
	}
	load = min(rounded(load), c.most)
	return load, load > c.held && (c.failed == 0 || load < c.failed)
}

// saw takes note of what came of a load.
func (c *climb) saw(load float64, held bool) {
	switch {
	case held:
		c.seen = append(c.seen, load)
	case c.failed == 0 || load < c.failed:
		c.failed = load
	}
	c.held = 0
	for _, x := range c.seen {
		if c.failed == 0 || x < c.failed {
			c.held = max(c.held, x)
		}
	}
}

// longer is the load to try for longer; false when there is none, or it was held
// often enough.
func (c *climb) longer() (load float64, more bool) {
	load = c.held
	if c.lasting > 0 {
		load = c.lasting
	}
	return load, load > 0 && c.confirmed < confirmTimes
}

// sawLonger takes note of what came of a load that was tried for longer.
func (c *climb) sawLonger(load float64, held bool) {
	c.saw(load, held)
	switch {
	case held:
		c.lasting, c.confirmed = load, c.confirmed+1
	case load > c.least:
		c.lasting, c.confirmed = max(rounded(load*down), c.least), 0
	default:
		c.lasting, c.confirmed = 0, 0
	}
}

// result is the load that was held, for longer where one was; nil where there
// was no time to find one.
func (c *climb) result() *float64 {
	load := c.held
	switch {
	case c.confirmed > 0:
		load = c.lasting
	case c.held == 0 && c.cut:
		return nil
	}
	return &load
}

// heldFor is how long the result was held in seconds; 0 is unknown.
func (c *climb) heldFor() float64 {
	switch {
	case c.confirmed > 0:
		return float64(c.confirmed) * longWindow.Seconds()
	case c.held > 0:
		return stepWindow.Seconds()
	}
	return 0
}

// rounded is a load in two digits.
func rounded(x float64) float64 {
	if x <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Round(x/unit) * unit
}

// predict is the number of requests a second, or of events, at which the CPUs
// of this host are full by the client's cost, the server's work included. Where
// the cost is not known it is a small host's.
func predict(c *rooflineCost, cpus int) (requests, events float64) {
	if c == nil || c.RequestSec <= 0 || c.EventSec <= 0 {
		c = &rooflineCost{RequestSec: 80e-6, EventSec: 16e-6}
	}
	// The server's part of a request is in its cost, and that of an event, which
	// is about as much again, is not. A loop reads on one CPU, and a sender
	// writes on one.
	each := 2*c.EventSec + c.RequestSec/streamEvents
	loops := float64(min(max(cpus/4, 1), 8))
	return float64(cpus) / c.RequestSec, min(float64(cpus)/each, loops/c.EventSec)
}
