package doctor_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/benchtest"
	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
	"github.com/openloop-go/openloop/engines/vllm"
	"github.com/openloop-go/openloop/fixtures"
)

// grouped passes events on when it has so many, or the last.
type grouped struct {
	from *bufio.Reader
	size int
	have bytes.Buffer
}

func (g *grouped) Read(p []byte) (int, error) {
	for events := 0; g.have.Len() == 0 || events%g.size != 0; {
		line, err := g.from.ReadBytes('\n')
		g.have.Write(line)
		if err != nil {
			break
		}
		if len(line) == 1 {
			events++
		}
	}
	if g.have.Len() == 0 {
		return 0, io.EOF
	}
	return g.have.Read(p)
}

// inBatches has a proxy pass on so many events together.
func inBatches(size int) func(*httputil.ReverseProxy, *http.Server) {
	return func(p *httputil.ReverseProxy, _ *http.Server) {
		if size > 1 {
			rebody(p, func(r *http.Response) io.Reader { return &grouped{from: bufio.NewReader(r.Body), size: size} })
		}
	}
}

// The larger the batches that events come in, the worse the verdict; and it is
// a fault where a run of requests as long as the doctor's is invalid as
// buffered, a warning where the run is valid and its metrics are wrong.
func TestBatches(t *testing.T) {
	order := []doctor.Status{doctor.OK, doctor.Warn, doctor.Fault}
	worst := 0
	var all strings.Builder
	for _, size := range []int{1, 2, 3, 4, 6, 7, 8, 10, 12, 16, 20, 32, 64, math.MaxInt} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := proxy(t, serve(t, sim.Config{DevMode: true}), inBatches(size))
				report := examine(t, sim.Config{}, func(c *doctor.Config) { c.Dial = dial })
				f := report.Find("buffering")
				if size == math.MaxInt {
					fmt.Fprintf(&all, "all: %v\n", f)
				} else {
					fmt.Fprintf(&all, "%d: %v\n", size, f)
				}
				at := slices.Index(order, f.Status)
				if at < worst {
					t.Errorf("%s after %s", f.Status, order[worst])
				}
				worst = at

				engine, err := vllm.Attach(t.Context(), vllm.Config{URL: "http://server.invalid", Dial: dial})
				if err != nil {
					t.Fatal(err)
				}
				defer engine.Close(t.Context())
				runs, err := benchtest.Run(t.Context(), engine, benchtest.Point{
					Workload: fixtures.Lengths{Prompt: fixtures.Fixed(64), Output: fixtures.Fixed(32)},
					Closed:   benchtest.Closed{InFlight: 1}, Requests: 20, Runs: 1,
				}, benchtest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				run := runs.Records[0]
				buffered := slices.ContainsFunc(run.Problems, func(p metric.Problem) bool { return p.Kind == "buffered" })
				if buffered != (f.Status == doctor.Fault) {
					t.Errorf("%v; and of a run: %v", f, run.Problems)
				}
			})
		})
	}
	golden(t, "batches of events", all.String())
}

// What comes together once, and not in a longer stream, may be chance.
func TestABurstThatALongerStreamDoesNotBearOut(t *testing.T) {
	for size, want := range map[int]string{
		30: "warn buffering: 32 events over 140ms, the first after 131ms; with 128 tokens over 570ms, the first after 130ms: 94 % of the gaps of the first are nothing, 23 % of the second's → look again when this host has less to do; else find out what holds streams back now and then",
		80: "warn buffering: 32 events over 140ms, the first after 140ms; with 128 tokens over 570ms, the first after 354ms: 100 % of the gaps of the first are nothing, 62 % of the second's → look again when this host has less to do; else find out what holds streams back now and then",
	} {
		synctest.Test(t, func(t *testing.T) {
			burst := func(p *httputil.ReverseProxy, _ *http.Server) {
				rebody(p, func(r *http.Response) io.Reader {
					var head bytes.Buffer // two lines an event
					from := bufio.NewReader(r.Body)
					for range 2 * size {
						line, err := from.ReadBytes('\n')
						if head.Write(line); err != nil {
							break
						}
					}
					return io.MultiReader(&head, from)
				})
			}
			report := examine(t, sim.Config{}, func(c *doctor.Config) { c.Dial = proxy(t, serve(t, sim.Config{DevMode: true}), burst) })
			if got := report.Find("buffering").String(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// An engine that stops now and then, told from one that does so once, or no
// longer than a host that is not quite idle.
func TestStalls(t *testing.T) {
	stalls := func(every, pause time.Duration) sim.Config {
		return sim.Config{DevMode: true, Faults: sim.Faults{StallEvery: every, StallFor: pause}}
	}
	for _, row := range []struct {
		name string
		cfg  sim.Config
		want string
	}{
		{"often and for long", stalls(100*time.Millisecond, 400*time.Millisecond),
			"warn stalls: 11 pauses of about 404ms, about every 499ms, among 255 gaps of about 4.49ms → find out what stops the engine (others on its device, a host that swaps, a task that repeats): E2E latency and the longest gaps hold it, and whether a request meets it is chance"},
		{"once in a stream", stalls(900*time.Millisecond, 200*time.Millisecond),
			"ok stalls: 1 pause, of 204ms, among 255 gaps of about 4.49ms"},
		{"for as short as hosts do", stalls(100*time.Millisecond, 20*time.Millisecond),
			"ok stalls: half of 31 gaps take up to 4.48ms, the longest 24.5ms"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				report := examine(t, row.cfg, nil)
				if got := report.Find("stalls").String(); got != row.want {
					t.Errorf("got  %s\nwant %s", got, row.want)
				}
				if f := report.Find("buffering"); f.Status != doctor.OK {
					t.Error(f)
				}
			})
		})
	}
}
