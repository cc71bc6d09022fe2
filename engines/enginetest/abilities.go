package enginetest

import (
	"fmt"

	"github.com/openloop-go/openloop/engines"
)

// describe: an engine that describes itself names its kind and its model, and
// that is the model that answers.
func (s *suite) describe() {
	d, ok := s.engine.(engines.Describer)
	if !ok {
		return
	}
	id, err := d.Describe(s.ctx)
	switch {
	case err != nil:
		s.wrong("describe", "%v", err)
	case id.Engine == "" || id.Model == "":
		s.wrong("describe", "engine is %q and model %q: neither may be empty", id.Engine, id.Model)
	case s.model != "" && s.model != id.Model:
		s.wrong("describe", "the model is %q, but replies come from %q", id.Model, s.model)
	}
}

// load: with nothing in flight an engine that can tell is idle.
func (s *suite) load() {
	l, ok := s.engine.(engines.Loader)
	if !ok {
		return
	}
	var load engines.Load
	var err error
	idle := s.eventually(func() bool {
		load, err = l.Load(s.ctx)
		return err != nil || load.Idle() || !load.Running.Known || !load.Waiting.Known
	})
	if err != nil {
		s.wrong("load", "%v", err)
		return
	}
	s.count("load: Running", load.Running)
	s.count("load: Waiting", load.Waiting)
	if !idle {
		s.wrong("load", "%d running and %d waiting %v after the last request ended, want none", load.Running.N, load.Waiting.N, s.o.Patience)
	}
}

// scrape: counters never fall, stay known, and grow by what was generated.
func (s *suite) scrape() {
	c, ok := s.engine.(engines.Scraper)
	if !ok {
		return
	}
	before, err := c.Scrape(s.ctx)
	if err != nil {
		s.wrong("scrape", "%v", err)
		return
	}
	w := s.good("scrape", s.request(s.o.Prompt, s.o.Output))
	if w == nil {
		return
	}
	var after engines.Counters
	var short string
	s.eventually(func() bool {
		if after, err = c.Scrape(s.ctx); err != nil {
			return true
		}
		short = lacking("PromptTokens", before.PromptTokens, after.PromptTokens, w.reply.PromptTokens)
		if short == "" {
			short = lacking("OutputTokens", before.OutputTokens, after.OutputTokens, w.reply.OutputTokens)
		}
		return short == ""
	})
	if err != nil {
		s.wrong("scrape", "%v", err)
		return
	}
	if short != "" {
		s.wrong("scrape", "%s", short)
	}
	for _, pair := range []struct {
		name         string
		older, newer engines.Count
	}{
		{"PromptTokens", before.PromptTokens, after.PromptTokens}, {"OutputTokens", before.OutputTokens, after.OutputTokens},
		{"CacheQueries", before.CacheQueries, after.CacheQueries}, {"CacheHits", before.CacheHits, after.CacheHits},
		{"Preemptions", before.Preemptions, after.Preemptions},
	} {
		s.count("scrape: "+pair.name, pair.newer)
		if pair.older.Known && !pair.newer.Known {
			s.wrong("scrape", "%s was known and is not any more", pair.name)
		} else if pair.older.Known && pair.newer.N < pair.older.N {
			s.wrong("scrape", "%s fell from %d to %d", pair.name, pair.older.N, pair.newer.N)
		}
	}
	if q, h := after.CacheQueries, after.CacheHits; q.Known && h.Known && h.N > q.N {
		s.wrong("scrape", "CacheHits is %d of %d CacheQueries", h.N, q.N)
	}
	if before.Instance != after.Instance {
		s.wrong("scrape", "Instance changed from %q to %q without a restart", before.Instance, after.Instance)
	}
}

// lacking says that a counter did not grow by as much as one reply counts.
func lacking(name string, before, after, served engines.Count) string {
	if !before.Known || !after.Known || !served.Known || after.N-before.N >= served.N {
		return ""
	}
	return fmt.Sprintf("%s grew by %d for a request of %d", name, after.N-before.N, served.N)
}

// flush: the outcome is one of the words, and "flushed" is true.
func (s *suite) flush() {
	f, ok := s.engine.(engines.Flusher)
	if !ok {
		return
	}
	r := s.request(s.o.LongPrompt, s.o.Output)
	again := *r
	again.ID += "-again"
	if s.good("flush", r) == nil {
		return
	}
	s.load() // a flush is refused by an engine that is still busy
	flush, err := f.Flush(s.ctx)
	if err != nil {
		s.wrong("flush", "%v", err)
		return
	}
	switch flush.Outcome {
	case engines.Flushed:
	case engines.FlushUnsupported, engines.FlushRefused, engines.FlushUnverified:
		if flush.Remedy == "" {
			s.wrong("flush", "%q without a remedy", flush.Outcome)
		}
	default:
		s.wrong("flush", "the outcome %q is none of the words", flush.Outcome)
	}
	if flush.Detail == "" {
		s.wrong("flush", "%q without a detail of what was asked and what came back", flush.Outcome)
	}
	w := s.good("flush", &again)
	if flush.Outcome != engines.Flushed {
		s.salt(flush)
		return
	}
	if w == nil {
		return
	}
	if c := w.reply.CachedTokens; c.Known && c.N > max(1, s.o.LongPrompt/100) {
		s.wrong("flush", "%q, but %d tokens of the same prompt came from the cache afterwards", flush.Outcome, c.N)
	}
}

// salt: what is not flushed is kept apart by a cache salt, unless the engine
// says that its server takes none.
func (s *suite) salt(flush engines.Flush) {
	if flush.Saltless {
		return
	}
	r := s.request(s.o.Prompt, s.o.Output)
	r.CacheSalt = "enginetest"
	s.good("cache salt", r)
}

// compiles: compile events are counted upwards.
func (s *suite) compiles() {
	l, ok := s.engine.(engines.Logger)
	if !ok {
		return
	}
	before, err := l.CompileEvents(s.ctx)
	if err == nil {
		s.good("compile events", s.request(s.o.Prompt, s.o.Output))
		var after engines.Count
		if after, err = l.CompileEvents(s.ctx); err == nil {
			s.count("compile events", after)
			if before.Known && (!after.Known || after.N < before.N) {
				s.wrong("compile events", "fell from %+v to %+v", before, after)
			}
			return
		}
	}
	s.wrong("compile events", "%v", err)
}

// restart: an engine that has been restarted serves, and says that it is
// another one.
func (s *suite) restart() {
	r, ok := s.engine.(engines.Restarter)
	if !ok || !s.o.Restart {
		return
	}
	instance := func() string {
		if c, ok := s.engine.(engines.Scraper); ok {
			if counters, err := c.Scrape(s.ctx); err == nil {
				return counters.Instance
			}
		}
		return ""
	}
	before := instance()
	if err := r.Restart(s.ctx); err != nil {
		s.wrong("restart", "%v", err)
		return
	}
	s.good("restart", s.request(s.o.Prompt, s.o.Output))
	if after := instance(); before != "" && before == after {
		s.wrong("restart", "Instance is %q as before", after)
	}
}
