package sim

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// page is a metrics page in the text format of Prometheus.
type page struct {
	strings.Builder
	labels string
	// created is when counters began, in Unix seconds; zero does not tell it.
	created float64
}

// one writes a metric with one series.
func (p *page) one(kind, name string, v float64) {
	p.family(kind, name)
	p.series(name, "", v)
	if kind == "counter" && p.created > 0 {
		p.one("gauge", strings.TrimSuffix(name, "_total")+"_created", p.created)
	}
}

// some is one of a counter that is not there before its first event.
func (p *page) some(name, label string, v float64) {
	if v > 0 {
		p.family("counter", name)
		p.series(name, label, v)
	}
}

func (p *page) family(kind, name string) { fmt.Fprintf(p, "# TYPE %s %s\n", name, kind) }

func (p *page) series(name, label string, v float64) {
	labels := p.labels
	if label != "" {
		labels += "," + label
	}
	fmt.Fprintf(p, "%s{%s} %v\n", name, labels, v)
}

// metrics answers /metrics.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	p := &page{labels: fmt.Sprintf("engine=\"0\",model_name=%q", s.cfg.answerModel())}
	if s.cfg.Flavor == SGLang {
		p.labels = fmt.Sprintf("model_name=%q,engine_type=\"unified\",tp_rank=\"0\",pp_rank=\"0\"", s.cfg.answerModel())
		s.sglangPage(p)
	} else {
		p.created = s.bootTime()
		s.vllmPage(p)
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(p.String()))
}

// inUse is the number of KV blocks that running sequences hold; those that
// are only cached count as free, as vLLM counts them.
func (c *kvCache) inUse() int { return c.private + c.cached - c.idle }

func (s *Server) vllmPage(p *page) {
	e, c, t := s.sched, s.sched.count, s.stats
	running, queued := s.load()
	waiting := float64(queued)
	p.one("gauge", "vllm:num_requests_running", float64(running))
	p.one("gauge", "vllm:num_requests_waiting", waiting)
	p.family("gauge", "vllm:num_requests_waiting_by_reason")
	p.series("vllm:num_requests_waiting_by_reason", `reason="capacity"`, waiting)
	p.series("vllm:num_requests_waiting_by_reason", `reason="deferred"`, 0)
	p.one("gauge", "vllm:kv_cache_usage_perc", float64(e.kv.inUse())/float64(e.kv.capacity))
	p.one("counter", "vllm:prefix_cache_queries_total", float64(c.queries))
	p.one("counter", "vllm:prefix_cache_hits_total", float64(c.hits))
	p.one("counter", "vllm:external_prefix_cache_queries_total", 0)
	p.one("counter", "vllm:external_prefix_cache_hits_total", 0)
	p.one("counter", "vllm:prompt_tokens_total", float64(c.prompt))
	p.one("counter", "vllm:prompt_tokens_cached_total", float64(c.hits))
	p.one("counter", "vllm:generation_tokens_total", float64(c.output))
	p.one("counter", "vllm:num_preemptions_total", float64(c.preemptions))
	p.family("counter", "vllm:request_success_total")
	for _, f := range []struct {
		reason string
		n      int
	}{{"stop", c.stopped}, {"length", c.byLength}, {"abort", c.aborted}, {"error", c.errors}} {
		p.series("vllm:request_success_total", fmt.Sprintf("finished_reason=%q", f.reason), float64(f.n))
	}
	t.ttft.write(p, "vllm:time_to_first_token_seconds", p.labels)
	t.itl.write(p, "vllm:inter_token_latency_seconds", p.labels)
	t.tpot.write(p, "vllm:request_time_per_output_token_seconds", p.labels)
	t.e2e.write(p, "vllm:e2e_request_latency_seconds", p.labels)
	t.queued.write(p, "vllm:request_queue_time_seconds", p.labels)
	t.prefill.write(p, "vllm:request_prefill_time_seconds", p.labels)
	t.decode.write(p, "vllm:request_decode_time_seconds", p.labels)
	fmt.Fprintf(p, "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size=\"%d\",enable_prefix_caching=\"True\",gpu_memory_utilization=\"0.9\",num_gpu_blocks=\"%d\",engine=\"0\"} 1.0\n",
		s.cfg.BlockTokens, s.cfg.KVTokens/s.cfg.BlockTokens)
	fmt.Fprintf(p, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.2f\n", s.bootTime())
}

// sglangPage lacks each counter, and each histogram, before its first event, as
// the page of several processes does that SGLang's is made from.
func (s *Server) sglangPage(p *page) {
	e, c, t := s.sched, s.sched.count, s.stats
	used := float64(e.kv.inUse() * s.cfg.BlockTokens)
	hitRate := 0.0
	if c.queries > 0 {
		hitRate = float64(c.hits) / float64(c.queries)
	}
	running, waiting := s.load()
	p.one("gauge", "sglang:num_running_reqs", float64(running))
	p.one("gauge", "sglang:num_queue_reqs", float64(waiting))
	p.one("gauge", "sglang:num_used_tokens", used)
	p.one("gauge", "sglang:token_usage", used/float64(e.kv.capacity*s.cfg.BlockTokens))
	p.one("gauge", "sglang:max_total_num_tokens", float64(s.cfg.KVTokens))
	p.one("gauge", "sglang:cache_hit_rate", hitRate)
	p.one("gauge", "sglang:num_retracted_reqs", 0)
	p.one("gauge", "sglang:fwd_occupancy", math.NaN())
	const stream = `is_streaming="true"`
	p.some("sglang:prompt_tokens_total", stream, float64(c.prompt))
	p.some("sglang:generation_tokens_total", stream, float64(c.output))
	p.some("sglang:cached_tokens_total", `cache_source="device"`, float64(c.hits))
	p.some("sglang:num_requests_total", stream, float64(c.served))
	p.some("sglang:num_retracted_requests_total", "", float64(c.preemptions))
	if c.served == 0 {
		return
	}
	t.ttft.write(p, "sglang:time_to_first_token_seconds", p.labels)
	t.itl.write(p, "sglang:inter_token_latency_seconds", p.labels)
	t.e2e.write(p, "sglang:e2e_request_latency_seconds", p.labels)
	t.queued.write(p, "sglang:queue_time_seconds", p.labels)
}

// bootTime is when the present start began, in Unix seconds.
func (s *Server) bootTime() float64 {
	return float64(s.origin.Add(s.boot).UnixNano()) / float64(time.Second)
}
