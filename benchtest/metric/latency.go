package metric

import "time"

// TTFT is the time to the first token event, from the schedule. It is absent
// when there was no token.
func (t *Timeline) TTFT() (time.Duration, bool) { return since(t.Scheduled, t.FirstToken) }

// ServiceTTFT is the time to the first token event from when the driver had done
// its part: TTFT without the lag, and without the wait for a slot of a client-side
// limit. The wait for a connection, which is the server's, is in it.
func (t *Timeline) ServiceTTFT() (time.Duration, bool) {
	lag, sent := t.Lag()
	if !sent {
		return 0, false
	}
	return since(t.due()+lag, t.FirstToken)
}

// FirstContentTime is the time to the first event with text of the answer
// itself, from the schedule. It is absent when there was none: an answer that
// is all reasoning has a TTFT and no time to first content.
func (t *Timeline) FirstContentTime() (time.Duration, bool) {
	return since(t.Scheduled, t.FirstContent)
}

// E2E is the time to the last token event, from the schedule. What a server
// sends after it (usage, the end of the stream) does not count.
func (t *Timeline) E2E() (time.Duration, bool) { return since(t.Scheduled, t.LastToken) }

// Lag is how late the driver sent the request: from the schedule or, where a
// client-side limit held it, from when that let it go, and without the wait for a
// connection (Connect), whose length the server and the way to it decide. The waits
// for a slot and for a connection are no lag, but they are in every latency. It is
// absent of a request that was not sent.
func (t *Timeline) Lag() (time.Duration, bool) {
	if t.Sent == 0 {
		return 0, false
	}
	return max(0, t.Sent-t.Connect-t.due()), true
}

// due is when nothing but the driver itself held the request any more.
func (t *Timeline) due() time.Duration { return max(t.Scheduled, t.Released) }

// HeldBack reports whether the limit on the client's side that the point asks for
// held the request back when it was due: it was let go later, or never. Of a point
// without such a limit it says nothing.
func (t *Timeline) HeldBack() bool {
	// What was never let go has no time of that, and neither has it one of its
	// end, as what was cut on its way has.
	return t.Released > t.Scheduled || t.Failure == Unfinished && t.Sent == 0 && t.Closed == 0
}

// TPOT is the time per output token: the time between the first and the last
// token event, divided by the tokens that came after the first event. With
// one token in the first event this is (E2E − TTFT) ÷ (n − 1); where the
// server does not say how many it carried, one is assumed.
//
// It is absent when the server gave no count of tokens, when no token came
// after the first event, and when all came at one instant, which tells how
// the stream was buffered and not how fast tokens were made.
func (t *Timeline) TPOT() (time.Duration, bool) {
	if t.FirstToken == 0 || t.LastToken <= t.FirstToken || t.OutputTokens < 0 {
		return 0, false
	}
	first := 1
	if t.FirstTokens >= 0 {
		first = t.FirstTokens
	}
	rest := t.OutputTokens - first
	if rest <= 0 {
		return 0, false
	}
	return (t.LastToken - t.FirstToken) / time.Duration(rest), true
}

// Failed reports that the request was no success: it failed, it ended without
// a token, the drain limit cut it, or the user stopped it.
func (t *Timeline) Failed() bool { return t.Failure != "" || t.FirstToken == 0 }

// since is to − from, absent when to did not happen.
func since(from, to time.Duration) (time.Duration, bool) {
	if to == 0 {
		return 0, false
	}
	return to - from, true
}
