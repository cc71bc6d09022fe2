package doctor

import (
	"context"
	"strings"

	"github.com/openloop-go/openloop/engines"
	"github.com/openloop-go/openloop/engines/llamacpp"
	"github.com/openloop-go/openloop/engines/openai"
	"github.com/openloop-go/openloop/engines/sglang"
	"github.com/openloop-go/openloop/engines/vllm"
)

// firstGeneration finds the form of prompts that the server takes: token ids,
// whose number is exact, else text, else chat.
func (v *visit) firstGeneration() bool {
	const name = "token-ids"
	forms := []form{{}, {text: true}, {chat: true}}
	if v.cfg.Chat {
		forms = forms[2:]
	}
	var refusals []string
	for _, f := range forms {
		g, err := v.try(f)
		if v.ctx.Err() != nil {
			return false
		}
		if err != nil || g.err != nil {
			if err == nil {
				err = g.err
			}
			refusals = append(refusals, v.words(err))
			if classOf(err) != engines.Status && classOf(err) != engines.NoModel {
				break // another form would fail as well
			}
			continue
		}
		switch {
		case v.cfg.Chat:
			v.say(name, Warn, "prompts of an exact length need /v1/completions", "not tried: only chat was asked for, whose prompts are text")
		case f.chat:
			v.say(name, Warn, "measure it with Config.Chat and a workload of text; prompts of an exact length need /v1/completions", "only /v1/chat/completions works, whose prompts are text (%s)", refusals[0])
		case f.text:
			remedy := "measure it with a workload of text; the length of a prompt is then the server's to tell"
			if v.report.Kind != "openai" {
				remedy = "measure it with Config.Chat and a workload of text; the length of a prompt is then the server's to tell"
			}
			v.say(name, Warn, remedy, "prompts of token ids are refused (%s), text is taken", refusals[0])
		default:
			v.say(name, OK, "", "prompts of token ids are taken")
		}
		return true
	}
	remedy := "find out why in the server's log"
	if strings.Contains(refusals[0], "content encoding") {
		remedy = noCompression
	}
	v.say("stream", Fault, remedy, "no generation succeeded: %s", refusals[0])
	return false
}

// try makes one small generation in a form.
func (v *visit) try(f form) (*generation, error) {
	engine, err := openai.New(v.cfg.client(v.model.ID, f.chat))
	if err != nil {
		return nil, err
	}
	v.form, v.plain = f, engine
	v.closing = append(v.closing, func() { _ = engine.Close() })
	g := v.fresh(engine, 8, fewTokens)
	if g.err != nil && f == (form{}) && strings.Contains(strings.ToLower(g.err.Error()), "vocab") {
		v.ids = fewIDs
		g = v.fresh(engine, 8, fewTokens)
	}
	v.failed, v.mishap = 0, "" // to find out is what it was for
	if first := g.err; passing(first) {
		if again := v.fresh(engine, 8, fewTokens); again.err == nil {
			g = again
			v.fail(first)
		} else {
			v.failed, v.mishap = 0, ""
		}
	}
	return g, nil
}

// attach makes the engine that a test would measure.
func (v *visit) attach() bool {
	err := v.open()
	if passing(err) {
		first := err
		if err = v.open(); err == nil {
			v.fail(first)
		}
	}
	if err != nil && v.ctx.Err() == nil {
		v.say("attach", Fault, "a test that attaches fails with this too", "%s", v.words(err))
	}
	return err == nil
}

// open attaches by the package of the server's kind. A server that takes only
// text is attached to by chat, as a test would have to.
func (v *visit) open() error {
	c, chat := &v.cfg, v.form != form{}
	closes := func(e interface{ Close(context.Context) error }) {
		v.closing = append(v.closing, func() { _ = e.Close(context.WithoutCancel(v.ctx)) })
	}
	v.sent++ // by which it is ready
	switch v.report.Kind {
	case "vllm":
		e, err := vllm.Attach(v.ctx, vllm.Config{URL: c.URL, Model: v.model.ID, APIKey: c.APIKey, Chat: chat,
			Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial, StartBudget: c.Patience})
		if err != nil {
			return err
		}
		closes(e)
		v.engine, v.warm = e, e
	case "sglang":
		e, err := sglang.Attach(v.ctx, sglang.Config{URL: c.URL, Model: v.model.ID, APIKey: c.APIKey, Chat: chat,
			Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial, StartBudget: c.Patience})
		if err != nil {
			return err
		}
		closes(e)
		v.engine, v.warm = e, e
	case "llamacpp":
		// Requests of the first refuse the cache, those of the second take it.
		var both [2]*llamacpp.Engine
		for i := range both {
			e, err := llamacpp.Attach(v.ctx, llamacpp.Config{URL: c.URL, Model: v.model.ID, APIKey: c.APIKey, Chat: chat, PromptCache: i == 1,
				Header: c.Header, TLS: c.TLS, Proxy: c.Proxy, Dial: c.Dial, StartBudget: c.Patience})
			if err != nil {
				return err
			}
			closes(e)
			both[i] = e
		}
		v.sent++
		v.engine, v.warm = both[0], both[1]
	default:
		v.sent-- // nothing was sent
		v.engine, v.warm = v.plain, v.plain
		return nil
	}
	if v.form.text {
		v.form = form{chat: true}
	}
	return nil
}

// version is what the server says of itself.
func (v *visit) version() bool {
	var d engines.Describer = v.plain // asks for /version
	if own, ok := v.engine.(engines.Describer); ok && v.report.Kind != "vllm" {
		// vLLM's own looks its host over, which can take a minute.
		d = own
	}
	ctx, cancel := context.WithTimeout(v.ctx, v.cfg.Patience)
	defer cancel()
	id, err := d.Describe(ctx)
	switch v.report.Version = id.Version; {
	case v.ctx.Err() != nil:
		return false
	case err != nil:
		v.say("version", Unknown, "", "%s", v.words(err))
	case id.Version == "":
		v.say("version", Unknown, "note it yourself: results of different versions must not be compared unawares", "the server does not tell it")
	default:
		v.say("version", OK, "", "%s", id.Version)
	}
	return true
}
