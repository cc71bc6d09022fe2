package doctor_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/internal/servertest"
	"github.com/openloop-go/openloop/engines/sim"
)

var update = flag.Bool("update", false, "write the golden files")

// text is a report as the golden files have it.
func text(r *doctor.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f)
	}
	fmt.Fprintf(&b, "= %s: %s %s %s", r.Verdict(), r.Kind, r.Version, r.Model)
	if r.Stopped {
		b.WriteString(", stopped")
	}
	return b.String() + "\n"
}

// golden compares with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: write it with -update", err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nand now came\n%s", file, want, got)
	}
}

// dialer opens connections in memory.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// serve serves an embedded engine in memory until the test ends.
func serve(t *testing.T, cfg sim.Config) dialer {
	t.Helper()
	cfg.Noise = sim.Quiet
	server, err := sim.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	pipes := servertest.Listen()
	go func() { _ = server.Serve(pipes) }()
	t.Cleanup(func() { _ = server.Close() })
	return pipes.Dial
}

// examine looks at an embedded engine, perhaps through a proxy, in virtual
// time.
func examine(t *testing.T, cfg sim.Config, with func(*doctor.Config)) *doctor.Report {
	t.Helper()
	c := doctor.Config{URL: "http://server.invalid", APIKey: cfg.APIKey, Dial: serve(t, cfg)}
	if with != nil {
		with(&c)
	}
	began := time.Now()
	report, err := doctor.Examine(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	return report
}

// wrong are the findings that are not ok, as "status name".
func wrong(r *doctor.Report) []string {
	var all []string
	for _, f := range r.Findings {
		if f.Status != doctor.OK {
			all = append(all, string(f.Status)+" "+f.Name)
		}
	}
	return all
}

// Each flavor as it should be, and with one fault each: what is wrong is
// named, and nothing else is.
func TestEmbeddedEngine(t *testing.T) {
	vllm, sglang := sim.Config{DevMode: true}, sim.Config{Flavor: sim.SGLang}
	faulty := func(cfg sim.Config, f sim.Faults) sim.Config { cfg.Faults = f; return cfg }
	protocol := func(cfg sim.Config, p sim.Protocol) sim.Config { cfg.Faults.Protocol = p; return cfg }
	for _, row := range []struct {
		name    string
		cfg     sim.Config
		verdict doctor.Verdict
		wrong   []string
	}{
		{"vllm", vllm, doctor.Measurable, nil},
		{"sglang", sglang, doctor.Measurable, nil},
		{"tensorrt_llm", sim.Config{Flavor: sim.TensorRTLLM}, doctor.Measurable,
			[]string{"unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "warn flush", "warn cache-salt", "unknown metrics"}},
		{"tensorrt_llm with hidden cached tokens", faulty(sim.Config{Flavor: sim.TensorRTLLM}, sim.Faults{HideCached: true}), doctor.Measurable,
			[]string{"unknown routes", "unknown idle", "warn queue-gauges", "unknown cancel", "warn cached-tokens", "warn flush", "warn cache-salt", "unknown metrics"}},
		{"vllm without development mode", sim.Config{}, doctor.Measurable, []string{"warn development-mode", "warn flush"}},

		{"vllm with a flush that lies", faulty(vllm, sim.Faults{FlushLies: true}), doctor.NotMeasurable, []string{"fault flush"}},
		{"sglang with a flush that lies", faulty(sglang, sim.Faults{FlushLies: true}), doctor.NotMeasurable, []string{"fault flush"}},
		{"vllm that refuses to flush", faulty(vllm, sim.Faults{FlushRefusals: -1}), doctor.Measurable, []string{"warn flush"}},
		{"sglang that refuses to flush", faulty(sglang, sim.Faults{FlushRefusals: -1}), doctor.Measurable, []string{"warn flush"}},
		{"sglang that refuses once", faulty(sglang, sim.Faults{FlushRefusals: 1}), doctor.Measurable, nil},
		{"vllm before 0.26", faulty(vllm, sim.Faults{FlushEmptyBody: true}), doctor.Measurable, nil},
		{"vllm before 0.26 that refuses", faulty(vllm, sim.Faults{FlushEmptyBody: true, FlushRefusals: -1}), doctor.Measurable, []string{"warn flush"}},
		{"vllm with a flush that lies and hidden cached tokens", faulty(vllm, sim.Faults{FlushLies: true, HideCached: true}), doctor.NotMeasurable,
			[]string{"warn cached-tokens", "fault flush"}},
		{"vllm without a cache", faulty(vllm, sim.Faults{CacheOff: true}), doctor.Measurable, []string{"unknown flush"}},
		{"vllm with hidden cached tokens", faulty(vllm, sim.Faults{HideCached: true}), doctor.Measurable, []string{"warn cached-tokens"}},
		{"sglang with hidden cached tokens", faulty(sglang, sim.Faults{HideCached: true}), doctor.Measurable, []string{"warn cached-tokens"}},
		{"vllm with hidden cached tokens and no metrics", faulty(vllm, sim.Faults{HideCached: true, Protocol: sim.Protocol{NoMetrics: true}}), doctor.Measurable,
			[]string{"unknown idle", "warn queue-gauges", "unknown cancel", "warn cached-tokens", "unknown flush", "unknown cache-salt", "warn metrics"}},
		{"vllm with a salt that is ignored", faulty(sim.Config{}, sim.Faults{IgnoreSalt: true}), doctor.Measurable,
			[]string{"warn development-mode", "warn flush", "warn cache-salt"}},
		{"vllm that rejects a salt", protocol(sim.Config{}, sim.Protocol{RejectSalt: true}), doctor.NotMeasurable,
			[]string{"warn development-mode", "warn flush", "fault cache-salt"}},

		{"vllm with streams held back", faulty(vllm, sim.Faults{Buffered: true}), doctor.NotMeasurable, []string{"fault buffering"}},
		{"sglang with streams held back", faulty(sglang, sim.Faults{Buffered: true}), doctor.NotMeasurable, []string{"fault buffering"}},
		{"vllm without usage", faulty(vllm, sim.Faults{NoUsage: true}), doctor.NotMeasurable,
			[]string{"fault usage", "unknown token-counts", "unknown output-length", "unknown tokens-per-event", "warn cached-tokens", "unknown counters"}},
		{"sglang without usage", faulty(sglang, sim.Faults{NoUsage: true}), doctor.NotMeasurable,
			[]string{"fault usage", "unknown token-counts", "unknown output-length", "unknown tokens-per-event", "warn cached-tokens", "unknown counters"}},
		{"vllm with several tokens an event", faulty(vllm, sim.Faults{TokensPerEvent: 5}), doctor.Measurable, []string{"warn tokens-per-event"}},
		{"vllm with outputs cut short", faulty(vllm, sim.Faults{OutputCut: 0.25}), doctor.NotMeasurable, []string{"fault output-length"}},
		{"vllm that tells too many tokens", protocol(vllm, sim.Protocol{Miscount: 0.25}), doctor.NotMeasurable,
			[]string{"fault token-counts", "unknown output-length", "unknown tokens-per-event", "unknown counters"}},
		{"vllm that tells too few tokens", protocol(vllm, sim.Protocol{Miscount: -0.25}), doctor.NotMeasurable,
			[]string{"warn usage", "fault token-counts", "unknown output-length", "unknown tokens-per-event", "unknown counters"}},
		{"vllm with errors in streams", faulty(vllm, sim.Faults{StreamErrorShare: 1}), doctor.NotMeasurable, []string{"fault attach"}},
		{"vllm with streams cut off", faulty(vllm, sim.Faults{CutShare: 1}), doctor.NotMeasurable, []string{"fault attach"}},

		{"vllm without metrics", protocol(vllm, sim.Protocol{NoMetrics: true}), doctor.Measurable,
			[]string{"unknown idle", "warn queue-gauges", "unknown cancel", "warn metrics"}},
		{"sglang without metrics", protocol(sglang, sim.Protocol{NoMetrics: true}), doctor.Measurable, []string{"warn metrics"}},
		{"vllm with gauges that stay", protocol(vllm, sim.Protocol{NoLoad: true}), doctor.Measurable, []string{"warn queue-gauges", "unknown cancel"}},
		{"vllm with stale gauges", protocol(vllm, sim.Protocol{StaleLoad: true}), doctor.Measurable, []string{"warn queue-gauges"}},
		{"vllm that keeps dropped streams", protocol(vllm, sim.Protocol{KeepDropped: true}), doctor.Measurable, []string{"warn cancel"}},
		{"sglang that keeps dropped streams", protocol(sglang, sim.Protocol{KeepDropped: true}), doctor.Measurable, []string{"warn cancel"}},
		{"vllm with text prompts only", protocol(vllm, sim.Protocol{NoTokenIDs: true}), doctor.Measurable, []string{"warn token-ids"}},
		{"vllm that closes connections", protocol(vllm, sim.Protocol{CloseIdle: true}), doctor.Measurable, []string{"warn keep-alive"}},
		{"vllm an hour ahead", protocol(vllm, sim.Protocol{ClockOff: time.Hour}), doctor.Measurable, []string{"warn clock"}},
		{"vllm a minute behind", protocol(vllm, sim.Protocol{ClockOff: -time.Minute}), doctor.Measurable, []string{"warn clock"}},
		{"vllm with refusals in streams", protocol(vllm, sim.Protocol{ErrorsInStreams: true}), doctor.Measurable, []string{"warn errors"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				report := examine(t, row.cfg, nil)
				if got := wrong(report); report.Verdict() != row.verdict || !slices.Equal(got, row.wrong) {
					t.Errorf("%s: %q; want %s: %q", report.Verdict(), got, row.verdict, row.wrong)
				}
				if report.Find("token-ids").Status == doctor.OK { // else the number of tokens is left to chance
					golden(t, row.name, text(report))
				}
			})
		})
	}
}
