package main

import (
	"fmt"
	"math"
	"time"

	"github.com/openloop-go/openloop/benchtest/arrival"
)

const (
	// askWindow is the window of a load that is asked about: longer where it has
	// fewer than askRequests in it, and at most askLongest.
	askWindow, askLongest = 2 * time.Second, 20 * time.Second
	askRequests           = 10
	// askStream is how long its streams may last: the window begins when they are
	// all open, and the last of them are to end in time.
	askStream = 15 * time.Second
	// askMost is within what it is all over.
	askMost = time.Minute
)

// askLeast is the smallest rate that shows something in the longest window.
var askLeast = askRequests / askLongest.Seconds()

// rooflineLoad is what is offered of a load that is asked about: the same, but
// for streams that are too long, or requests too few, for the time there is.
type rooflineLoad struct {
	rooflineAsk
	Window time.Duration
	// NotTried says what of the load that is asked about is not offered.
	NotTried []string
	// more is what has more events a second than is asked for.
	more bool
}

// load is the load as it is offered. Streams that are too long and requests that
// are too few are more requests that are shorter, with as many streams at once
// and events a second.
func (a rooflineAsk) load() rooflineLoad {
	l := rooflineLoad{rooflineAsk: a}
	events := a.events()
	if longest := int(a.Pace * askStream.Seconds()); a.Tokens > longest {
		l.Tokens = longest
		l.NotTried = append(l.NotTried, fmt.Sprintf("streams longer than %v", askStream))
	}
	if events/float64(l.Tokens) < askLeast {
		l.Tokens = max(1, int(events/askLeast))
		l.NotTried = append(l.NotTried, fmt.Sprintf("fewer than %d requests in %v", askRequests, askLongest))
	}
	if l.NotTried != nil {
		l.Rate = max(askLeast, events/float64(l.Tokens))
		l.more = events < askLeast
	}
	l.Window = min(max(askWindow, time.Duration(askRequests/l.Rate*float64(time.Second))), askLongest)
	return l
}

// events is the number of events a second.
func (a rooflineAsk) events() float64 { return a.Rate * float64(a.Tokens) }

// lasts is how long a stream does; 0 is one event, at once.
func (a rooflineAsk) lasts() time.Duration {
	if a.Tokens == 1 {
		return 0
	}
	return time.Duration(float64(a.Tokens) / a.Pace * float64(time.Second))
}

// streams is how many are open at once.
func (a rooflineAsk) streams() float64 { return a.Rate * a.lasts().Seconds() }

// pace is the events a second of each stream; 0 is one event, at once.
func (a rooflineAsk) pace() float64 {
	if a.Tokens == 1 {
		return 0
	}
	return a.Pace
}

// words say it, with the streams at once and the events a second that it has.
func (a rooflineAsk) words() string { return a.wordsOf(perSecond(a.Rate)) }

// wordsOf are words with the rate as it is written.
func (a rooflineAsk) wordsOf(rate string) string {
	said := fmt.Sprintf("%s requests/s of %s", rate, plural(a.Tokens, "token"))
	if a.Tokens > 1 {
		said += fmt.Sprintf(", %s events/s in %s of %s events/s", fewPerSecond(a.events()), plural1000(math.Ceil(a.streams()), "stream"), perSecond(a.Pace))
	}
	return said
}

// settle is how many requests come before the window: until all its streams are
// open.
func (l rooflineLoad) settle() int {
	return max(int(math.Ceil(l.streams())), int(l.Rate*0.05), 1)
}

// takes is how long it all takes.
func (l rooflineLoad) takes() time.Duration {
	fill := time.Duration(float64(l.settle()) / l.Rate * float64(time.Second))
	return fill + l.Window + drained(l.lasts())
}

// arrivals are Poisson's, as users come. So few that the window is longer, or that
// stand for others, would come in bursts of many more events a second than are
// asked for.
func (l rooflineLoad) arrivals() arrival.Process {
	if l.NotTried != nil || l.Window > askWindow {
		return arrival.Constant{Rate: l.Rate}
	}
	return arrival.Poisson{Rate: l.Rate}
}
