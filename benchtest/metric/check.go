package metric

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// UnmarshalJSON reads a timeline in which a count that is left out is
// unknown, -1, and not zero.
func (t *Timeline) UnmarshalJSON(text []byte) error {
	type plain Timeline
	p := plain{Scheduled: -1, FirstTokens: -1, PromptTokens: -1, OutputTokens: -1, CachedTokens: -1, AskedPrompt: -1, AskedOutput: -1}
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*t = Timeline(p)
	return nil
}

// check finds the first field that no run can have: what a reader refuses
// and a writer must not write. The field is empty when there is none.
func (r *Record) check() (field, why string) {
	if r.Schema != Schema {
		return "schema", fmt.Sprintf("is %d, this version writes %d", r.Schema, Schema)
	}
	if r.Requests == nil {
		return "requests", "is missing"
	}
	if r.From < 0 || r.To <= r.From {
		return "to", fmt.Sprintf("must be after from, got a window from %v to %v", r.From, r.To)
	}
	if !finite(r.Rate) || r.Rate < 0 {
		return "rate", fmt.Sprintf("must be finite and not negative, got %v", r.Rate)
	}
	if !finite(r.GapCV2) || r.GapCV2 < 0 {
		return "gap_cv2", fmt.Sprintf("must be finite and not negative, got %v", r.GapCV2)
	}
	for _, of := range []struct {
		name   string
		counts map[string]float64
	}{{"counters", r.Counters}, {"served", r.Served}, {"own", r.Own}} {
		for _, key := range slices.Sorted(maps.Keys(of.counts)) {
			if n := of.counts[key]; !finite(n) {
				return of.name + "." + key, fmt.Sprintf("must be finite, got %v: leave out a counter that is unknown", n)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Client.Readings)) {
		if !finite(r.Client.Readings[key]) {
			return "client.readings." + key, fmt.Sprintf("must be finite, got %v: leave out a reading that is unknown", r.Client.Readings[key])
		}
	}
	if g := r.Gaps; g.N < 0 || g.Sum < 0 || !slices.IsSorted([]time.Duration{0, g.P50, g.P90, g.P95, g.P99, g.P999, g.Max}) {
		return "gaps", fmt.Sprintf("must have quantiles in order up to max, got %+v", g)
	}
	if field, why := checkAll("requests", r.Requests); field != "" {
		return field, why
	}
	return checkAll("probes", r.Probes)
}

// checkAll checks timelines, which must be in order of schedule.
func checkAll(name string, timelines []Timeline) (field, why string) {
	for i := range timelines {
		t := &timelines[i]
		if field, why := t.check(); field != "" {
			return fmt.Sprintf("%s[%d].%s", name, i, field), why
		}
		if i > 0 && t.Scheduled < timelines[i-1].Scheduled {
			return fmt.Sprintf("%s[%d].scheduled", name, i), fmt.Sprintf("is %v after %v: %s are in order of schedule", t.Scheduled, timelines[i-1].Scheduled, name)
		}
	}
	return "", ""
}

func (t *Timeline) check() (field, why string) {
	switch {
	case t.Scheduled < 0:
		return "scheduled", "is missing or negative"
	case t.FirstToken < 0 || t.FirstToken > 0 && t.FirstToken < t.Scheduled:
		return "first_token", fmt.Sprintf("is %v, before the schedule at %v", t.FirstToken, t.Scheduled)
	case t.LastToken < t.FirstToken && t.LastToken != 0:
		return "last_token", fmt.Sprintf("is %v, before the first token at %v", t.LastToken, t.FirstToken)
	case t.Failure == "" && t.FirstToken == 0:
		return "first_token", "is missing and the request is no failure: without a token it is one"
	}
	for _, c := range []struct {
		field string
		n     int
	}{{"first_tokens", t.FirstTokens}, {"prompt_tokens", t.PromptTokens}, {"output_tokens", t.OutputTokens},
		{"cached_tokens", t.CachedTokens}, {"asked_prompt", t.AskedPrompt}, {"asked_output", t.AskedOutput}} {
		if c.n < -1 {
			return c.field, fmt.Sprintf("is %d: a count is -1 when it is unknown, else not negative", c.n)
		}
	}
	return "", ""
}
