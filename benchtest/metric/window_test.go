package metric

import (
	"testing"
	"time"
)

func TestAttainmentCountsEveryArrival(t *testing.T) {
	good, slow := streamed(2, 1, 90, 110), streamed(2, 1, 101, 110)
	r := window(good, good, good, good, good, good, slow, slow,
		fail(streamed(0, -1), "status"), fail(streamed(0, -1), Aborted))
	slo := SLO{TTFT: 100 * ms}
	if good, total := r.Attainment(slo); good != 6 || total != 9 {
		t.Errorf("attainment is %d/%d, want 6/9: an error is a miss, what the user stopped is left out", good, total)
	}
	if v, err := r.Goodput(slo); err != nil || v != 0.6 {
		t.Errorf("goodput is %v (%v), want 6 in 10 s", v, err)
	}
	r.Requests[9].Failure = Unfinished
	if good, total := r.Attainment(slo); good != 6 || total != 10 {
		t.Errorf("attainment is %d/%d, want 6/10: what did not finish is a miss", good, total)
	}
}

func TestOnlyArrivalsOfTheWindowCount(t *testing.T) {
	var all []Timeline
	for i := range 6 {
		q := streamed(1, 1, 100)
		q.Scheduled, q.FirstToken, q.LastToken = time.Duration(i)*time.Second, 30*time.Second, 30*time.Second
		all = append(all, q)
	}
	r := &Record{From: 2 * time.Second, To: 4 * time.Second, Requests: all}
	counted := r.Counted()
	if len(counted) != 2 || counted[0] != &r.Requests[2] || counted[1] != &r.Requests[3] {
		t.Errorf("%d requests counted, want those at 2 s and 3 s, which end long after the window", len(counted))
	}
	r.From, r.To = 4*time.Second, 2*time.Second
	if n := len(r.Counted()); n != 0 {
		t.Errorf("a window that ends before it begins has %d requests", n)
	}
}

func TestGoodputRefuses(t *testing.T) {
	unknown := streamed(-1, -1, 100, 200)
	unknown.ID = "r7"
	closed := window(streamed(2, 1, 100, 110))
	closed.InFlight = 64
	rows := []struct {
		name string
		r    *Record
		slo  SLO
		want string
	}{
		{"no limit", window(), SLO{}, "metric: SLO has no limit: set at least one of TTFT, TPOT, ITL and E2E"},
		{"a closed loop", closed, SLO{TTFT: ms}, "metric: no goodput of a closed loop of 64 in flight: its load follows the server; use an open loop"},
		{"no window", &Record{From: time.Second, To: time.Second}, SLO{TTFT: ms}, "metric: no goodput of a window from 1s to 1s: it has no length"},
		{"no requests", window(), SLO{TTFT: ms}, "metric: no goodput of a window without requests"},
		{"only aborted ones", window(fail(unknown, Aborted)), SLO{TTFT: ms}, "metric: no goodput of a window without requests"},
		{"TPOT without counts", window(unknown), SLO{TPOT: 40 * ms}, "metric: SLO.TPOT is 40ms and the server counted no tokens of request r7: make it report usage, or limit ITL instead"},
	}
	for _, row := range rows {
		if v, err := row.r.Goodput(row.slo); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, %v, want %q", row.name, v, err, row.want)
		}
	}
	if v, err := window(streamed(2, 1, 900, 950)).Goodput(SLO{TTFT: ms}); err != nil || v != 0 {
		t.Errorf("goodput with nothing good is %v (%v), want 0: zero is a legal value", v, err)
	}
}

func TestInFlightCountsFromTheSchedule(t *testing.T) {
	r := &Record{Requests: []Timeline{
		{Scheduled: 1 * time.Second, Sent: 3 * time.Second, FirstToken: 4 * time.Second, LastToken: 5 * time.Second, Closed: 6 * time.Second},
		{Scheduled: 2 * time.Second, Sent: 2 * time.Second, Failure: "refused", Closed: 2500 * ms},
		{Scheduled: 3 * time.Second, Failure: "unreachable"},
		{Scheduled: 4 * time.Second, Sent: 4 * time.Second, FirstToken: 5 * time.Second, LastToken: 5 * time.Second, Failure: Unfinished},
	}}
	for _, row := range []struct {
		at   time.Duration
		want int
		why  string
	}{
		{1 * time.Second, 0, "just before the first is due"},
		{1*time.Second + 1, 1, "due and not yet sent"},
		{2*time.Second + 1, 2, ""},
		{3 * time.Second, 1, "the refused one has gone"},
		{3*time.Second + 1, 1, "one without a connection never was in flight"},
		{5 * time.Second, 2, "just before the last token"},
		{5*time.Second + 1, 1, "usage after the last token does not count"},
		{time.Hour, 1, "what never finished stays"},
	} {
		if n := r.InFlightAt(row.at); n != row.want {
			t.Errorf("in flight at %v: %d, want %d (%s)", row.at, n, row.want, row.why)
		}
	}
}

func TestValid(t *testing.T) {
	r := window()
	if !r.Valid() || !r.Open() {
		t.Error("an open run without problems is not valid or not open")
	}
	r.Problems = []Problem{{Kind: "errors", Text: "error rate 2 %, limit 1 %"}}
	r.InFlight = 1
	if r.Valid() || r.Open() {
		t.Error("a closed run with a problem is valid or open")
	}
}

func TestSLO(t *testing.T) {
	rows := []struct {
		name string
		slo  SLO
		t    Timeline
		good bool
	}{
		{"within", SLO{TTFT: 100 * ms, E2E: 300 * ms}, streamed(3, 1, 100, 200, 300), true},
		{"first token late", SLO{TTFT: 99 * ms}, streamed(3, 1, 100, 200, 300), false},
		{"end late", SLO{TTFT: 100 * ms, E2E: 299 * ms}, streamed(3, 1, 100, 200, 300), false},
		{"TPOT at the limit", SLO{TPOT: 100 * ms}, streamed(3, 1, 100, 200, 300), true},
		{"TPOT above it", SLO{TPOT: 99 * ms}, streamed(3, 1, 100, 200, 300), false},
		{"TPOT of one token holds", SLO{TPOT: ms}, streamed(1, 1, 100), true},
		{"TPOT of one event holds, whatever it carried", SLO{TPOT: ms}, streamed(-1, -1, 100), true},
		{"TPOT of events at one instant holds", SLO{TPOT: ms}, streamed(8, -1, 100, 100, 100), true},
		{"TPOT that could not be measured does not", SLO{TPOT: time.Hour}, streamed(-1, -1, 100, 200), false},
		{"longest gap within", SLO{ITL: 150 * ms}, streamed(3, 1, 100, 200, 350), true},
		{"longest gap above", SLO{ITL: 149 * ms}, streamed(3, 1, 100, 200, 350), false},
		{"failed, however fast", SLO{TTFT: time.Hour}, fail(streamed(3, 1, 1, 2, 3), "server-error"), false},
		{"without a token", SLO{TTFT: time.Hour}, streamed(0, -1), false},
		{"unit is part of the type: 100 is 100 ns", SLO{TTFT: 100}, streamed(3, 1, 100, 200, 300), false},
	}
	for _, row := range rows {
		if got := row.slo.Good(&row.t); got != row.good {
			t.Errorf("%s: good is %v, want %v", row.name, got, row.good)
		}
	}
}

func TestSLOInWords(t *testing.T) {
	rows := []struct {
		slo        SLO
		text, want string // want is the error
	}{
		{SLO{TTFT: 500 * ms, TPOT: 40 * ms}, "TTFT ≤ 500ms, TPOT ≤ 40ms", ""},
		{SLO{ITL: time.Second, E2E: 10 * time.Second}, "ITL ≤ 1s, E2E ≤ 10s", ""},
		{SLO{}, "no limit", "metric: SLO has no limit: set at least one of TTFT, TPOT, ITL and E2E"},
		{SLO{TTFT: -ms, E2E: -1}, "TTFT ≤ -1ms, E2E ≤ -1ns", "metric: SLO.TTFT must not be negative, got -1ms: zero switches it off\nmetric: SLO.E2E must not be negative, got -1ns: zero switches it off"},
	}
	for _, row := range rows {
		if got := row.slo.String(); got != row.text {
			t.Errorf("got %q, want %q", got, row.text)
		}
		err := row.slo.Validate()
		if got := errorText(err); got != row.want {
			t.Errorf("%s: got %q, want %q", row.text, got, row.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
