package doctor_test

import (
	"context"
	"fmt"

	"github.com/openloop-go/openloop/engines/doctor"
	"github.com/openloop-go/openloop/engines/sim"
)

// A server whose flush says that it has emptied the cache, and has not.
func ExampleExamine() {
	server, err := sim.Open(context.Background(), sim.Config{DevMode: true, Faults: sim.Faults{FlushLies: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	report, err := doctor.Examine(context.Background(), doctor.Config{URL: "http://sim.invalid", Dial: server.Dial})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict())
	for _, f := range report.Findings {
		if f.Status == doctor.Fault {
			fmt.Println(f.Name + ": " + f.Seen)
		}
	}
	// Output:
	// not measurable
	// flush: flushed (POST /reset_prefix_cache?reset_external=true: status 200, {"success":true}), and then the cache still served 304 of 320 tokens of a prompt sent before
}

// Everything wrong with a configuration is said at once, and nothing is sent.
func ExampleConfig() {
	_, err := doctor.Examine(context.Background(), doctor.Config{Kind: "tgi"})
	fmt.Println(err)
	// Output:
	// doctor: Config.URL must be the root of a server, as in http://127.0.0.1:8000, got nothing
	// doctor: Config.Kind must be one of vllm, sglang, llamacpp, openai, got "tgi"
}

func ExampleKinds() {
	fmt.Println(doctor.Kinds())
	fmt.Println("sends", doctor.Plan)
	// Output:
	// [vllm sglang llamacpp openai]
	// sends about 15 generations of at most 256 tokens, one of up to 2,048 that is dropped after a few, and one flush of the prefix cache
}

// A warning leaves a server measurable, a fault does not, and a report without
// findings is none.
func ExampleReport_Verdict() {
	report := doctor.Report{}
	fmt.Println(report.Verdict())
	for _, s := range []doctor.Status{doctor.OK, doctor.Warn, doctor.Unknown, doctor.Fault} {
		report.Findings = append(report.Findings, doctor.Finding{Name: "flush", Status: s})
		fmt.Println(s+":", report.Verdict())
	}
	report.Findings = append(report.Findings, doctor.Finding{Name: "reach", Status: doctor.Fault})
	fmt.Println(report.Verdict())
	// Output:
	// not measurable
	// ok: measurable
	// warn: measurable
	// unknown: measurable
	// fault: not measurable
	// unreachable
}

func ExampleReport_Find() {
	report := doctor.Report{Findings: []doctor.Finding{
		{Name: "usage", Status: doctor.OK, Seen: "64 prompt and 32 output tokens"},
		{Name: "flush", Status: doctor.Warn, Seen: "status 404", Remedy: "start the server with VLLM_SERVER_DEV_MODE=1"},
	}}
	fmt.Println(report.Find("flush"))
	fmt.Println(report.Count(doctor.Warn), report.Find("cancel").Status == "")
	// Output:
	// warn flush: status 404 → start the server with VLLM_SERVER_DEV_MODE=1
	// 1 true
}

func ExampleFinding_String() {
	fmt.Println(doctor.Finding{Name: "clock", Status: doctor.Unknown, Seen: "the server tells no time"})
	// Output: unknown clock: the server tells no time
}
