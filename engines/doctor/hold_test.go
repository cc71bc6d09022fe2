package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/engines/sim"
)

// port serves an embedded engine on a port of this host, and counts requests.
func port(t *testing.T, asked func()) (url string) {
	t.Helper()
	engine, err := sim.NewServer(sim.Config{DevMode: true, Noise: sim.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	handler := engine.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.Close(); _ = engine.Close() })
	return server.URL
}

// A server that is being measured is left alone, by whatever name it is called,
// unless it is to be looked at regardless.
func TestAServerThatIsBeingMeasured(t *testing.T) {
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	var asked atomic.Int64
	url := port(t, func() { asked.Add(1) })
	other := strings.Replace(url, "127.0.0.1", "localhost", 1) + "/v1"
	engine, err := openai.New(openai.Config{URL: other})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	release, err := engine.Hold(t.Context(), "TestDecode", t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	report, err := doctor.Examine(t.Context(), doctor.Config{URL: url})
	want := "doctor: a measurement is running on this server: " + url + ", which TestDecode of this process measures: " +
		"wait until it has ended, or go on regardless (Config.Regardless; openloop doctor -regardless) and disturb it"
	if report != nil || err == nil || err.Error() != want || asked.Load() > 0 {
		t.Errorf("%d requests, report %v\ngot  %v\nwant %s", asked.Load(), report, err, want)
	}
	report, err = doctor.Examine(t.Context(), doctor.Config{URL: url, Regardless: true})
	if err != nil {
		t.Fatal(err)
	}
	want = "warn measurement: one is running on this server: " + url + ", which TestDecode of this process measures → " +
		"look again when it has ended: what follows may be its doing, and what it measures may be this one's"
	if got := report.Findings[0].String(); got != want || report.Find("reach").Status != doctor.OK {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if report, err = doctor.Examine(t.Context(), doctor.Config{URL: url, Regardless: true}); err != nil || report.Find("measurement").Status != "" {
		t.Errorf("%v, %v", err, report)
	}
}

// Who wants to measure a server that is being looked at waits, and says for
// whom; and is let in when that is done.
func TestAMeasurementWaits(t *testing.T) {
	t.Setenv("OPENLOOP_LOCKS", t.TempDir())
	url := port(t, func() {})
	engine, err := openai.New(openai.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	began, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := doctor.Examine(t.Context(), doctor.Config{URL: url, Found: func(f doctor.Finding) {
			if f.Name == "reach" {
				close(began)
			}
		}})
		done <- err
	}()
	<-began
	var said []string
	release, err := engine.Hold(t.Context(), "TestDecode", func(format string, args ...any) {
		said = append(said, strings.Fields(format)[0])
		if len(said) == 1 && args[1] != "openloop doctor of this process measures" {
			t.Errorf(format, args...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(said) < 2 {
		t.Errorf("said %q", said)
	}
}
