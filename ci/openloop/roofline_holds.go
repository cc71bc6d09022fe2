package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// planShare is how much of what was held for longWindow can be planned with. On a
// host of two cores with little else running, loads of this share of it, offered
// for 2 s in the minute after, were held in 9 of 9 tries, and of four fifths of it
// in 8 of 9. While others took all of its CPUs (load average 5 to 9) they were in 12
// of 22 and 8 of 22: there it is not the load alone that decides.
const planShare = 0.5

// rooflineHolds is the largest load of each kind that was held; nil is not
// known, for want of time, and 0 that not even the smallest was.
type rooflineHolds struct {
	Requests *float64 `json:"requests_per_sec"`
	Events   *float64 `json:"events_per_sec"`
	// Streams is at least as many as were open in a step of events that was held.
	Streams *int `json:"streams"`
	// Sec is how long the load was held, in all.
	Sec struct {
		Requests float64 `json:"requests,omitempty"`
		Events   float64 `json:"events,omitempty"`
	} `json:"held_for_sec"`
	// Not is the smallest load of a kind that was tried to its end and not held;
	// 0, and absent, is none, so that more than what was held may be.
	Not struct {
		Requests float64 `json:"requests_per_sec,omitempty"`
		Events   float64 `json:"events_per_sec,omitempty"`
		Streams  int     `json:"streams,omitempty"`
	} `json:"not_held"`
	// Cut are the kinds whose steps were ended for time: what they show is less
	// than there is to learn.
	Cut struct {
		Requests bool `json:"requests"`
		Events   bool `json:"events"`
		Streams  bool `json:"streams"`
	} `json:"ended_for_time"`
	// Plan is what can be planned with; nil is nothing.
	Plan *rooflinePlan `json:"plan_with_at_most,omitempty"`
}

// rooflinePlan is a share of what was held for longWindow; 0, and absent, is that
// none was.
type rooflinePlan struct {
	Share    float64 `json:"share_of_held"`
	Requests float64 `json:"requests_per_sec,omitempty"`
	Events   float64 `json:"events_per_sec,omitempty"`
}

// none reports that of the requests or of the events nothing was held.
func (h *rooflineHolds) none() bool {
	return h.Requests == nil || h.Events == nil || *h.Requests == 0 || *h.Events == 0
}

// atLeast takes the streams of the steps that were held: they were open at once.
func (h *rooflineHolds) atLeast(steps []rooflineStep) {
	for _, s := range steps {
		if n := int(math.Floor(s.Streams)); s.held() && n > 0 && (h.Streams == nil || n > *h.Streams) {
			h.Streams = &n
		}
	}
}

// plan settles what can be planned with: of what was held for a moment nothing.
func (h *rooflineHolds) plan() {
	p := rooflinePlan{Share: planShare}
	if h.Requests != nil && h.Sec.Requests >= longWindow.Seconds() {
		p.Requests = rounded(planShare * *h.Requests)
	}
	if h.Events != nil && h.Sec.Events >= longWindow.Seconds() {
		p.Events = rounded(planShare * *h.Events)
	}
	if p.Requests > 0 || p.Events > 0 {
		h.Plan = &p
	}
}

// text is what was held, for people.
func (h *rooflineHolds) text(busy string) string {
	said := "holds     " + heldWords(h.Requests, h.Not.Requests, h.Cut.Requests, "requests/s") +
		", " + heldWords(h.Events, h.Not.Events, h.Cut.Events, "events/s")
	var n *float64
	if h.Streams != nil {
		x := float64(*h.Streams)
		n = &x
	}
	said += ", " + heldWords(n, float64(h.Not.Streams), h.Cut.Streams, "streams at once") + "\n"
	said += "          each by itself, with the server on this host"
	var long []string
	for _, k := range []struct {
		what string
		sec  float64
	}{{"requests", h.Sec.Requests}, {"events", h.Sec.Events}} {
		if k.sec > 0 {
			long = append(long, fmt.Sprintf("the %s for %v", k.what, seconds(k.sec)))
		}
	}
	if long != nil {
		said += "; " + strings.Join(long, ", ")
	}
	said += "\n"
	if busy != "" {
		said += "          of a busy host: " + busy + "\n"
	}
	if p := h.Plan; p != nil {
		var loads []string
		if p.Requests > 0 {
			loads = append(loads, whole1000(p.Requests)+" requests/s")
		}
		if p.Events > 0 {
			loads = append(loads, whole1000(p.Events)+" events/s")
		}
		said += fmt.Sprintf("plan      with at most %s: %.0f %% of what was held, since a host does not hold its most at all times", strings.Join(loads, ", "), 100*p.Share)
		if busy != "" {
			said += ", and a busy one not even that"
		}
		return said + "\n"
	}
	if long != nil {
		said += "plan      with nothing of it: what is held for a moment shows little\n"
	}
	return said
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// heldWords say what was held of a kind, and what was not or was not tried.
func heldWords(held *float64, not float64, cut bool, what string) string {
	switch {
	case held == nil && not > 0:
		return fmt.Sprintf("%s not known (not %s, and fewer not tried for want of time)", what, whole1000(not))
	case held == nil:
		return what + " not tried to the end"
	case not > 0:
		said := fmt.Sprintf("%s %s (not %s)", whole1000(*held), what, whole1000(not))
		if cut && *held > 0 {
			return "at least " + said
		}
		return said
	case cut:
		return fmt.Sprintf("at least %s %s (more not tried to the end)", whole1000(*held), what)
	}
	return fmt.Sprintf("%s %s or more", whole1000(*held), what)
}
