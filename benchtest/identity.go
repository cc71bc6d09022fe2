package benchtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/openloop-go/openloop/benchtest/arrival"
	"github.com/openloop-go/openloop/benchtest/metric"
)

// String is the point on one line: load, workload and size of a run.
func (p Point) String() string {
	size := fmt.Sprintf("%d requests a run", p.Requests)
	if p.Window > 0 {
		size = fmt.Sprintf("windows of %v", p.Window)
	}
	s := fmt.Sprintf("%s, %s, %s", p.loadName(), workloadName(p.Workload), size)
	if p.ClientLimit > 0 {
		s += fmt.Sprintf(", client limit %d", p.ClientLimit)
	}
	if p.ProbeRate > 0 {
		s += fmt.Sprintf(", %v probes a second", p.ProbeRate)
	}
	return s
}

func (p Point) loadName() string {
	switch n := p.Closed.InFlight; {
	case n == 1:
		return "serial, closed loop"
	case n > 0:
		return fmt.Sprintf("closed loop, %d in flight", n)
	}
	return arrival.String(p.Arrivals)
}

func workloadName(w Workload) string {
	switch w := w.(type) {
	case nil:
		return "no workload"
	case fmt.Stringer:
		return w.String()
	}
	return fmt.Sprintf("%T", w)
}

// Label is the name of the point in file names and reports: Name or, where it
// is empty, one derived from the load, as in "poisson-4", "closed-64" or
// "serial".
func (p Point) Label() string {
	switch {
	case p.Name != "":
		return p.Name
	case p.Closed.InFlight == 1:
		return "serial"
	case p.Closed.InFlight > 1:
		return "closed-" + strconv.Itoa(p.Closed.InFlight)
	}
	return slug(strings.ReplaceAll(arrival.String(p.Arrivals), "/s", ""))
}

// slug makes a name for files of any text.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case strings.ContainsRune(nameBytes, r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 80 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-."); s != "" {
		return s
	}
	return "point"
}

// Pairs are what identifies a valid point, as key and value in a fixed order:
// the workload with a hash of its first requests, the load, the lengths of
// the phases with their defaults written out, what is required of the cache,
// limits in flight, and the seed. What is off is left out. Name, Runs,
// Starts, Capacity, SLO and Limits are not part of it: they change nothing that is
// measured in a run.
func (p Point) Pairs() []metric.Pair {
	p = p.orDefaults()
	var pairs []metric.Pair
	add := func(key string, on bool, value any) {
		if on {
			pairs = append(pairs, metric.Pair{Key: key, Value: fmt.Sprint(value)})
		}
	}
	add("workload", true, workloadName(p.Workload))
	add("workload-hash", true, fingerprint(p.Workload))
	add("arrivals", p.Arrivals != nil, arrival.String(p.Arrivals))
	add("in-flight", p.Closed.InFlight > 0, p.Closed.InFlight)
	add("requests", p.Requests > 0, p.Requests)
	add("window", p.Window > 0, p.Window)
	add("warmup", true, p.Warmup)
	add("settle", true, p.Settle)
	add("drain", true, p.Drain)
	add("cache", true, p.Cache)
	add("shared-tokens", p.SharedTokens > 0, p.SharedTokens)
	add("client-limit", p.ClientLimit > 0, p.ClientLimit)
	add("max-in-flight", p.MaxInFlight > 0, p.MaxInFlight)
	add("probe-rate", p.ProbeRate > 0, p.ProbeRate)
	add("seed", p.Seed > 0, p.Seed)
	return pairs
}

// Hash is the short hash of Pairs. Runs of points with different hashes never
// compare.
func (p Point) Hash() string { return metric.Hash(p.Pairs()) }

// String is the word for reports: "cold", "proved-cold" or "warm".
func (c Cache) String() string {
	if c == Cold {
		return "cold"
	}
	return string(c)
}

// sampled is how many requests stand for a workload in its fingerprint.
const sampled = 8

// fingerprint is a hash of what the workload asks for at a fixed seed. It
// sees what a name does not: other prompts under the same name, or another
// version of whatever makes them.
func fingerprint(w Workload) string {
	if w == nil {
		return ""
	}
	h := sha256.New()
	var b []byte
	number := func(n uint64) { b = binary.BigEndian.AppendUint64(b, n) }
	for i := range sampled {
		r, err := request(w, i, 1, 1)
		if err != nil {
			return "" // Validate says why
		}
		b = b[:0]
		number(uint64(len(r.Tokens)))
		for _, t := range r.Tokens {
			b = binary.BigEndian.AppendUint32(b, uint32(t))
		}
		number(uint64(len(r.Text)))
		b = append(b, r.Text...)
		number(uint64(r.MaxTokens))
		number(uint64(r.MinTokens))
		b = fmt.Appendf(b, "%t %g", r.IgnoreEOS, r.Temperature)
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
