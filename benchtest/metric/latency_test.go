package metric

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// streamed is a request that was due at 1 s and whose token events came at
// the given milliseconds after that, carrying tokens in all.
func streamed(tokens, first int, at ...int) Timeline {
	t := Timeline{
		Phase: Window, Scheduled: time.Second, Sent: time.Second,
		PromptTokens: -1, OutputTokens: tokens, CachedTokens: -1, AskedPrompt: -1, AskedOutput: -1, FirstTokens: first,
	}
	for i, a := range at {
		when := time.Second + time.Duration(a)*ms
		if i == 0 {
			t.FirstToken = when
		} else {
			t.Gaps = append(t.Gaps, when-t.LastToken)
		}
		t.LastToken = when
		t.Events++
	}
	t.Closed = t.LastToken
	t.SummariseGaps()
	return t
}

// none stands for a latency that is absent.
const none = time.Duration(-1)

func got(v time.Duration, ok bool) time.Duration {
	if !ok {
		return none
	}
	return v
}

func TestTTFTAndTPOT(t *testing.T) {
	buffered := streamed(8, -1, 300, 300, 300, 300)
	rows := []struct {
		name       string
		t          Timeline
		ttft, tpot time.Duration
	}{
		{"one token an event: (E2E − TTFT)/(n − 1)", streamed(11, 1, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 2000), 1000 * ms, 100 * ms},
		{"tokens in the first event unknown: one", streamed(11, -1, 1000, 2000), 1000 * ms, 100 * ms},
		{"running usage 1, 4, 7, 10", streamed(10, 1, 100, 200, 300, 400), 100 * ms, 300 * ms / 9},
		{"three tokens in the first event", streamed(9, 3, 100, 200, 400), 100 * ms, 50 * ms},
		{"a parser that held 30 of 31 tokens back", streamed(31, 1, 436, 619, 802), 436 * ms, 366 * ms / 30},
		{"one token only", streamed(1, 1, 120), 120 * ms, none},
		{"one token in two events", streamed(1, -1, 120, 130), 120 * ms, none},
		{"all tokens in the first event", streamed(5, 5, 120, 140), 120 * ms, none},
		{"no count from the server", streamed(-1, -1, 100, 200), 100 * ms, none},
		{"everything in one read", buffered, 300 * ms, none},
		{"no token at all", streamed(0, -1), none, none},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if v := got(row.t.TTFT()); v != row.ttft {
				t.Errorf("TTFT %v, want %v", v, row.ttft)
			}
			if v := got(row.t.TPOT()); v != row.tpot {
				t.Errorf("TPOT %v, want %v", v, row.tpot)
			}
		})
	}
}

func TestLatencyRunsFromTheSchedule(t *testing.T) {
	q := Timeline{
		Scheduled: 1000 * ms, Sent: 1400 * ms, FirstEvent: 1405 * ms,
		FirstToken: 1500 * ms, FirstContent: 1700 * ms, LastToken: 2000 * ms,
		Closed: 2040 * ms, // usage came 40 ms after the last token
	}
	for name, row := range map[string]struct{ got, want time.Duration }{
		"TTFT":               {got(q.TTFT()), 500 * ms},
		"service TTFT":       {got(q.ServiceTTFT()), 100 * ms},
		"first content":      {got(q.FirstContentTime()), 700 * ms},
		"E2E, to last token": {got(q.E2E()), 1000 * ms},
		"lag":                {got(q.Lag()), 400 * ms},
	} {
		if row.got != row.want {
			t.Errorf("%s is %v, want %v", name, row.got, row.want)
		}
	}
	q.Connect = 50 * ms // the last 50 ms before it was sent, it waited for a connection
	for name, row := range map[string]struct{ got, want time.Duration }{
		"TTFT":         {got(q.TTFT()), 500 * ms},
		"service TTFT": {got(q.ServiceTTFT()), 150 * ms},
		"lag":          {got(q.Lag()), 350 * ms},
	} {
		if row.got != row.want {
			t.Errorf("%s with a wait for a connection is %v, want %v", name, row.got, row.want)
		}
	}
	q.Connect = 400*ms + 1 // the clock was read twice
	if v := got(q.Lag()); v != 0 {
		t.Errorf("lag of a request that did nothing but wait for its connection is %v, want 0s", v)
	}
	if v := got(q.ServiceTTFT()); v != 500*ms {
		t.Errorf("service TTFT of such a request is %v, want its TTFT, 500ms", v)
	}
	q.Connect = 0
	q.Released = 1350 * ms // a client-side limit held it
	if v := got(q.Lag()); v != 50*ms {
		t.Errorf("lag behind the release is %v, want 50ms", v)
	}
	q.Connect = 30 * ms
	if v := got(q.Lag()); v != 20*ms {
		t.Errorf("lag behind the release, with a wait for a connection, is %v, want 20ms", v)
	}
	if v := got(q.ServiceTTFT()); v != 130*ms {
		t.Errorf("service TTFT behind the release and the lag is %v, want 130ms", v)
	}
	if v := got(q.E2E()); v != 1000*ms {
		t.Errorf("E2E with a wait for a slot is %v, want 1s", v)
	}
}

func TestWhatDidNotHappenIsAbsentNotZero(t *testing.T) {
	q := Timeline{Scheduled: time.Second, OutputTokens: -1, FirstTokens: -1}
	for name, v := range map[string]time.Duration{
		"TTFT": got(q.TTFT()), "service TTFT": got(q.ServiceTTFT()), "first content": got(q.FirstContentTime()),
		"E2E": got(q.E2E()), "lag": got(q.Lag()), "TPOT": got(q.TPOT()),
	} {
		if v != none {
			t.Errorf("%s of a request that was never sent is %v, want absent", name, v)
		}
	}
	reasoned := streamed(3, 1, 100, 120, 140) // no event with content
	if v := got(reasoned.FirstContentTime()); v != none {
		t.Errorf("time to first content of an answer that is all reasoning is %v, want absent", v)
	}
}

// TestClientLimitDoesNotHideQueueing: a server that takes 500 ms, arrivals
// every 100 ms, and a client that lets one through at a time.
func TestClientLimitDoesNotHideQueueing(t *testing.T) {
	r := &Record{From: time.Second, To: 2 * time.Second}
	free := time.Second
	for i := range 8 {
		due := time.Second + time.Duration(i)*100*ms
		sent := max(due, free)
		free = sent + 500*ms
		r.Requests = append(r.Requests, Timeline{
			Scheduled: due, Released: sent, Sent: sent, FirstToken: free, LastToken: free, Events: 1, OutputTokens: 1, FirstTokens: 1,
		})
	}
	for name, want := range map[string]float64{
		"mean-e2e-sec":          1.9,
		"max-e2e-sec":           3.3,
		"mean-service-ttft-sec": 0.5,
		"max-lag-sec":           0,
	} {
		if v, err := r.Value(name); err != nil || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, err, want)
		}
	}
}
