package benchtest

import (
	"maps"
	"slices"
	"strings"

	"github.com/openloop-go/openloop/benchtest/metric"
	"github.com/openloop-go/openloop/ci"
	"github.com/openloop-go/openloop/engines"
)

// describe writes into the record what was measured on, what part of it a
// baseline must share, and what could not be found out.
func (s *session) describe(r *metric.Record) {
	id := s.start.identity
	model := id.Model
	if model == "" {
		model = s.start.model
	}
	var pairs []metric.Pair
	add := func(key, value string) {
		if value != "" {
			pairs = append(pairs, metric.Pair{Key: key, Value: value})
		}
	}
	add("engine", id.Engine)
	add("engine-version", id.Version)
	add("model", model)
	add("model-revision", id.Revision)
	add("hardware", id.Hardware)
	add("command", id.Command)
	for _, k := range slices.Sorted(maps.Keys(id.Settings)) {
		add("setting-"+strings.ToLower(strings.TrimLeft(k, "-")), id.Settings[k])
	}
	for _, p := range client() {
		add(p.Key, p.Value)
	}
	if d, ok := s.engine.(engines.Dialer); ok && d.DialsEach() {
		add(fieldDials, "one for each request, as asked")
	}
	if p, ok := s.engine.(engines.Proxied); ok {
		switch used, unused := p.Proxy(); {
		case used != "":
			add(fieldProxy, used)
			r.Warnings = append(r.Warnings, "requests go through the proxy "+used+": it is measured with the server, and may hold back what that streams; go round it unless it is meant")
		case unused != "":
			add(fieldProxy, "none: "+unused+" is set and is not used")
		}
	}
	if ci.Race && !s.virtual {
		add("race-detector", "on")
		r.Warnings = append(r.Warnings, "the race detector is on: this client is 2 to 10 times slower than it need be")
	}
	r.Identity = pairs
	r.Key = []metric.Pair{
		{Key: "engine", Value: orUnknown(id.Engine)},
		{Key: "model", Value: orUnknown(model)},
		{Key: "hardware", Value: orUnknown(id.Hardware)},
	}
	r.Unrecorded = unrecorded(pairs)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// Keys of the identity that the driver itself reads.
const (
	// fieldProxy names the proxy between this host and the engine.
	fieldProxy = "client-proxy"
	// fieldDials says that each request was to have a connection of its own.
	fieldDials = "client-connections"
)

// template is what a stranger needs to repeat a measurement, beside what the
// record always holds (workload, load, protocol, results, seeds): each with
// the words by which an identity's key tells it.
var template = []struct {
	field string
	keys  []string
}{
	{"engine", []string{"engine"}},
	{"engine version or commit", []string{"engine-version"}},
	{"model", []string{"model"}},
	{"model revision", []string{"model-revision"}},
	{"hardware and count", []string{"hardware"}},
	{"driver", []string{"driver"}},
	{"CUDA or ROCm", []string{"cuda", "rocm"}},
	{"torch", []string{"torch"}},
	{"server command line", []string{"command"}},
	{"server settings", []string{"setting-"}},
	{"server environment", []string{"setting-env", "environment"}},
	{"client CPU", []string{"client-cpu"}},
	{"client memory", []string{"client-memory"}},
	{"NUMA pinning", []string{"numa"}},
	{"client host and network", []string{"client-network"}},
	{fieldClocks, []string{"clock"}},
	{"harness version", []string{"openloop"}},
}

// fieldClocks is found out in the window, after the others.
const fieldClocks = "GPU clocks and temperature"

// unrecorded names the fields of the template that no pair tells.
func unrecorded(pairs []metric.Pair) []string {
	var missing []string
	for _, f := range template {
		told := slices.ContainsFunc(pairs, func(p metric.Pair) bool {
			return slices.ContainsFunc(f.keys, func(k string) bool {
				return p.Key == k || len(k) > 3 && strings.Contains(p.Key, k) && !slices.Contains(exact, k)
			})
		})
		if !told {
			missing = append(missing, f.field)
		}
	}
	return missing
}

// exact are the keys that are no part of other keys.
var exact = []string{"engine", "model", "hardware", "command", "openloop"}
