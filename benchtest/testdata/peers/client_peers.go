//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

const seed = 7

// vllmBench is `vllm bench serve`. Its ITL is of all gaps.
func vllmBench(p places) client {
	return client{
		Name: "vllm bench serve", Version: []string{p.VLLM, "--version"}, Env: offline,
		Run: func(url, dir string, l load) []string {
			return []string{
				p.VLLM, "bench", "serve", "--backend", "openai", "--base-url", url, "--endpoint", "/v1/completions",
				"--model", model, "--tokenizer", p.Tokenizer,
				"--dataset-name", "random", "--random-input-len", strconv.Itoa(prompt), "--random-output-len", strconv.Itoa(l.Tokens),
				"--ignore-eos", "--request-rate", number(l.Rate), "--num-prompts", strconv.Itoa(l.Requests), "--seed", strconv.Itoa(seed),
				"--percentile-metrics", "ttft,tpot,itl", "--metric-percentiles", "50,99", "--disable-tqdm",
				"--save-result", "--result-dir", dir, "--result-filename", "report.json",
			}
		},
		Read: func(dir string) (said, error) {
			var r struct {
				Completed                              int
				Mean_ttft_ms, P50_ttft_ms, P99_ttft_ms *float64
				Mean_itl_ms, P50_itl_ms, P99_itl_ms    *float64
			}
			err := readJSON(filepath.Join(dir, "report.json"), &r)
			return said{
				TTFT:     dist{orNaN(r.Mean_ttft_ms), orNaN(r.P50_ttft_ms), orNaN(r.P99_ttft_ms)},
				ITL:      dist{orNaN(r.Mean_itl_ms), orNaN(r.P50_itl_ms), orNaN(r.P99_itl_ms)},
				Requests: r.Completed,
			}, err
		},
	}
}

// guideLLM is GuideLLM. Its ITL is a mean of each request.
func guideLLM(p places) client {
	command := filepath.Join(p.Peers, "guidellm", "bin", "guidellm")
	return client{
		Name: "GuideLLM", Package: "guidellm", Version: []string{command, "--version"}, Env: offline,
		Run: func(url, dir string, l load) []string {
			return []string{
				command, "run", "--backend", "kind=openai_http,target=" + url + ",model=" + model + ",request_format=/v1/completions",
				"--profile", "kind=poisson,rate=" + number(l.Rate),
				"--constraint", fmt.Sprintf("kind=max_requests,count=%d", l.Requests),
				"--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", prompt, l.Tokens),
				"--tokenizer", "kind=huggingface_auto,model=" + p.Tokenizer,
				"--output", "kind=json,path=" + filepath.Join(dir, "report.json"), "--disable-console-interactive",
			}
		},
		Read: func(dir string) (said, error) {
			type summary struct {
				Successful struct {
					Mean        *float64
					Count       int
					Percentiles struct{ P50, P99 *float64 }
				}
			}
			var r struct {
				Benchmarks []struct {
					Metrics struct {
						Time_to_first_token_ms, Inter_token_latency_ms summary
					}
				}
			}
			if err := readJSON(filepath.Join(dir, "report.json"), &r); err != nil {
				return said{}, err
			}
			if len(r.Benchmarks) != 1 {
				return said{}, fmt.Errorf("the report has %d benchmarks, want 1", len(r.Benchmarks))
			}
			of := func(s summary) dist {
				return dist{orNaN(s.Successful.Mean), orNaN(s.Successful.Percentiles.P50), orNaN(s.Successful.Percentiles.P99)}
			}
			m := r.Benchmarks[0].Metrics
			return said{
				TTFT: of(m.Time_to_first_token_ms), ITL: of(m.Inter_token_latency_ms),
				Requests: m.Time_to_first_token_ms.Successful.Count, Means: true,
			}, nil
		},
	}
}

// aiPerf is NVIDIA's AIPerf. Its ITL is a mean of each request.
func aiPerf(p places) client {
	command := filepath.Join(p.Peers, "aiperf", "bin", "aiperf")
	return client{
		// Offline it takes a folder for the name of a repository.
		Name: "AIPerf", Package: "aiperf", Version: []string{command, "--version"}, Env: []string{"HF_HUB_DISABLE_TELEMETRY=1", "NO_COLOR=1", "TERM=dumb"},
		Run: func(url, dir string, l load) []string {
			return []string{
				command, "profile", "--model", model, "--url", url, "--endpoint-type", "completions", "--streaming",
				"--request-rate", number(l.Rate), "--arrival-pattern", "poisson", "--request-count", strconv.Itoa(l.Requests),
				"--isl", strconv.Itoa(prompt), "--isl-stddev", "0", "--osl", strconv.Itoa(l.Tokens), "--osl-stddev", "0",
				"--extra-inputs", "ignore_eos:true", "--use-legacy-max-tokens", "--use-server-token-count",
				"--tokenizer", p.Tokenizer, "--random-seed", strconv.Itoa(seed),
				"--ui", "none", "--no-gpu-telemetry", "--no-server-metrics", "--artifact-dir", dir,
			}
		},
		Read: func(dir string) (said, error) {
			type summary struct {
				Unit          string
				Avg, P50, P99 *float64
			}
			var r struct {
				Time_to_first_token, Inter_token_latency, Request_count summary
			}
			name, err := found(dir, "profile_export_aiperf.json")
			if err != nil {
				return said{}, err
			}
			if err := readJSON(name, &r); err != nil {
				return said{}, err
			}
			if u := r.Time_to_first_token.Unit; u != "ms" {
				return said{}, fmt.Errorf("the report has TTFT in %q, want ms", u)
			}
			of := func(s summary) dist { return dist{orNaN(s.Avg), orNaN(s.P50), orNaN(s.P99)} }
			s := said{TTFT: of(r.Time_to_first_token), ITL: of(r.Inter_token_latency), Means: true}
			if n := r.Request_count.Avg; n != nil {
				s.Requests = int(*n)
			}
			return s, nil
		},
	}
}

// inferencePerf is the Kubernetes project's inference-perf. Its ITL is of all
// gaps. Its cap of 100 requests in flight a worker is lifted, since it would
// close the loop.
func inferencePerf(p places) client {
	command := filepath.Join(p.Peers, "inference-perf", "bin", "inference-perf")
	return client{
		Name: "inference-perf", Package: "inference-perf", Version: []string{filepath.Join(p.Peers, "inference-perf", "bin", "python"), "-c",
			"import importlib.metadata as m; print('inference-perf', m.version('inference-perf'))"}, Env: offline,
		Run: func(url, dir string, l load) []string {
			config := filepath.Join(dir, "config.yml")
			fixed := func(n int) string {
				return fmt.Sprintf("{type: fixed, min: %d, max: %d, mean: %d, std_dev: 0}", n, n, n)
			}
			text := fmt.Sprintf(`api: {type: completion, streaming: true}
data: {type: random, input_distribution: %s, output_distribution: %s}
load: {type: poisson, stages: [{rate: %s, duration: %d}], worker_max_concurrency: 2000, base_seed: %d}
server: {type: vllm, model_name: %s, base_url: %q, ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %q}
report: {request_lifecycle: {summary: true, per_stage: true, per_request: false, percentiles: [50, 99]}}
storage: {local_storage: {path: %q}}
`, fixed(prompt), fixed(l.Tokens), number(l.Rate), int(math.Round(float64(l.Requests)/l.Rate)), seed, model, url, p.Tokenizer,
				filepath.Join(dir, "reports"))
			// A file that cannot be written is found by the client that reads it.
			_ = os.WriteFile(config, []byte(text), 0o644)
			return []string{command, "--config_file", config}
		},
		Read: func(dir string) (said, error) {
			type summary struct{ Mean, Median, P50, P99 *float64 }
			var r struct {
				Successes struct {
					Count   int
					Latency struct{ Time_to_first_token, Inter_token_latency summary }
				}
			}
			name, err := found(dir, "reports/summary_lifecycle_metrics.json")
			if err != nil {
				return said{}, err
			}
			if err := readJSON(name, &r); err != nil {
				return said{}, err
			}
			of := func(s summary) dist {
				mid := s.Median
				if mid == nil {
					mid = s.P50
				}
				return dist{orNaN(s.Mean) * 1e3, orNaN(mid) * 1e3, orNaN(s.P99) * 1e3}
			}
			latency := r.Successes.Latency
			return said{
				TTFT: of(latency.Time_to_first_token), ITL: of(latency.Inter_token_latency), Requests: r.Successes.Count,
			}, nil
		},
	}
}
