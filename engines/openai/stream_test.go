package openai

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

// running is a completion event with a running count.
func running(text string, n int) string {
	return data(fmt.Sprintf(`{"choices":[{"text":%q}],"usage":{"prompt_tokens":5,"completion_tokens":%d}}`, text, n))
}

// usage is a usage-only event.
func usage(n int) string {
	return data(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":%d}}`, n))
}

func TestStreamsThatSucceed(t *testing.T) {
	at := func(ms int, send string) step { return step{at: time.Duration(ms) * time.Millisecond, send: send} }
	known := engines.Known
	unknown := engines.Count{}
	for _, tt := range []struct {
		what       string
		chat       bool
		steps      []step
		firstEvent int
		tokens     []int // times of token events, ms
		counts     []int
		output     engines.Count
		finish     string
		warnings   []string
	}{
		{what: "a completion", steps: []step{at(10, completion("a")), at(30, completion("b")), at(30, ended)},
			firstEvent: 10, tokens: []int{10, 30}, counts: []int{-1, -1}, output: unknown, finish: "length"},
		{what: "S01 role first, null content", chat: true,
			steps:      []step{at(5, chat(`{"role":"assistant","content":null}`)), at(214, chat(`{"content":"A"}`)), at(234, chat(`{"content":"B"}`)), at(234, data("[DONE]"))},
			firstEvent: 5, tokens: []int{214, 234}, counts: []int{-1, -1}, output: unknown,
			warnings: []string{"the stream ended with [DONE] but without a finish reason"}},
		{what: "S01 role first, empty content", chat: true,
			steps:      []step{at(5, chat(`{"role":"assistant","content":""}`)), at(214, chat(`{"content":"A"}`)), at(234, chat(`{"content":"B"}`)), at(234, ended)},
			firstEvent: 5, tokens: []int{214, 234}, counts: []int{-1, -1}, finish: "length"},
		{what: "S01 role first, no content", chat: true,
			steps:      []step{at(5, chat(`{"role":"assistant"}`)), at(214, chat(`{"content":"A"}`)), at(234, chat(`{"content":"B"}`)), at(234, ended)},
			firstEvent: 5, tokens: []int{214, 234}, counts: []int{-1, -1}, finish: "length"},
		{what: "a role with running usage does not count, its growth goes to the first token", chat: true,
			steps: []step{
				at(5, data(`{"choices":[{"delta":{"role":"assistant","content":""}}],"usage":{"completion_tokens":1}}`)),
				at(9, data(`{"choices":[{"delta":{"content":"A"}}],"usage":{"completion_tokens":1}}`)), at(9, ended)},
			firstEvent: 5, tokens: []int{9}, counts: []int{1}, output: known(1), finish: "length"},
		{what: "S03 three tokens have two gaps", steps: []step{at(100, completion("a")), at(120, completion("b")), at(140, completion("c")), at(140, ended)},
			firstEvent: 100, tokens: []int{100, 120, 140}, counts: []int{-1, -1, -1}, finish: "length"},
		{what: "S04 reasoning_content only", chat: true,
			steps: []step{at(10, chat(`{"reasoning_content":"a","content":null}`)), at(20, chat(`{"reasoning_content":"b"}`)), at(30, chat(`{"reasoning_content":"c"}`)),
				at(30, ended[:strings.Index(ended, "data: [DONE]")]+usage(3)+data("[DONE]"))},
			firstEvent: 10, tokens: []int{10, 20, 30}, counts: []int{-1, -1, -1}, output: known(3), finish: "length"},
		{what: "S04 reasoning only", chat: true,
			steps:      []step{at(10, chat(`{"reasoning":"a","content":null}`)), at(20, chat(`{"reasoning":"b"}`)), at(30, chat(`{"reasoning":"c"}`)), at(30, usage(3)+ended)},
			firstEvent: 10, tokens: []int{10, 20, 30}, counts: []int{-1, -1, -1}, output: known(3), finish: "length"},
		{what: "S06 text held back while usage grows", chat: true,
			steps: []step{
				{at: 435800 * time.Microsecond, send: data(`{"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":1}}`)},
				at(619, data(`{"choices":[{"delta":{}}],"usage":{"completion_tokens":17}}`)),
				at(801, data(`{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"completion_tokens":31}}`, `[DONE]`))},
			firstEvent: 435, tokens: []int{435, 619, 801}, counts: []int{1, 16, 14}, output: known(31), finish: "tool_calls"},
		{what: "S07 several tokens an event",
			steps:      []step{at(100, running("a", 1)), at(200, running("bcd", 4)), at(300, running("efg", 7)), at(400, running("hij", 10)), at(400, usage(10)+ended)},
			firstEvent: 100, tokens: []int{100, 200, 300, 400}, counts: []int{1, 3, 3, 3}, output: known(10), finish: "length"},
		{what: "token ids count an event, empty text and all",
			steps: []step{at(10, data(`{"choices":[{"text":"a","token_ids":[7],"prompt_token_ids":[1,2,3]}]}`)),
				at(20, data(`{"choices":[{"text":"","token_ids":[8]}]}`)), at(30, data(`{"choices":[{"text":"bc","token_ids":[9,10]}]}`)), at(30, ended)},
			firstEvent: 10, tokens: []int{10, 20, 30}, counts: []int{1, 1, 2}, output: known(4), finish: "length"},
		{what: "llama.cpp's timings_per_token is running usage",
			steps: []step{at(10, data(`{"choices":[{"text":"a"}],"timings":{"cache_n":1,"prompt_n":4,"predicted_n":1}}`)),
				at(20, data(`{"choices":[{"text":"b"}],"timings":{"cache_n":1,"prompt_n":4,"predicted_n":2}}`)), at(20, ended)},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{1, 1}, output: known(2), finish: "length"},
		{what: "usage with the last event only is no running count",
			steps:      []step{at(10, completion("a")), at(20, data(`{"choices":[{"text":"b","finish_reason":"length"}],"usage":{"completion_tokens":2}}`, `[DONE]`))},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{-1, -1}, output: known(2), finish: "length"},
		{what: "usage with an empty last event is no token",
			steps:      []step{at(10, completion("a")), at(20, data(`{"choices":[{"text":"","finish_reason":"length"}],"usage":{"completion_tokens":2}}`, `[DONE]`))},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, output: known(2), finish: "length"},
		{what: "a count after a gap is not guessed, the next is known",
			steps:      []step{at(10, completion("a")), at(20, running("b", 2)), at(30, running("cd", 4)), at(30, ended)},
			firstEvent: 10, tokens: []int{10, 20, 30}, counts: []int{-1, -1, 2}, output: known(4), finish: "length"},
		{what: "text without growth has no known count",
			steps:      []step{at(10, running("a", 1)), at(20, running("b", 1)), at(30, running("c", 3)), at(30, ended)},
			firstEvent: 10, tokens: []int{10, 20, 30}, counts: []int{1, -1, 2}, output: known(3), finish: "length"},
		{what: "usage of zeros is no count",
			steps:      []step{at(10, running("a", 0)), at(20, running("b", 0)), at(20, ended)},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{-1, -1}, finish: "length",
			warnings: []string{"usage counts no output token though text came: counts are ignored"}},
		{what: "S09 all in one write", steps: []step{at(50, strings.Repeat(completion("a"), 8)+data("[DONE]"))},
			firstEvent: 50, tokens: []int{50, 50, 50, 50, 50, 50, 50, 50}, counts: []int{-1, -1, -1, -1, -1, -1, -1, -1},
			warnings: []string{"the stream ended with [DONE] but without a finish reason"}},
		{what: "S12 usage after the last token, empty choices",
			steps:      []step{at(10, completion("a")), at(20, completion("b")), at(30, completion("c")), at(70, usage(3)+ended)},
			firstEvent: 10, tokens: []int{10, 20, 30}, counts: []int{-1, -1, -1}, output: known(3), finish: "length"},
		{what: "S12 null choices", steps: []step{at(10, completion("a")), at(50, data(`{"choices":null,"usage":{"completion_tokens":1}}`)+ended)},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, output: known(1), finish: "length"},
		{what: "S12 no choices", steps: []step{at(10, completion("a")), at(50, data(`{"usage":{"completion_tokens":1}}`)+ended)},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, output: known(1), finish: "length"},
		{what: "S14 a finish reason without [DONE]", steps: []step{at(10, completion("a")), at(20, data(`{"choices":[{"text":"","finish_reason":"stop"}]}`))},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, finish: "stop",
			warnings: []string{"the stream ended after its finish reason without [DONE]"}},
		{what: "S16e error:null in normal events", steps: []step{at(10, data(`{"error":null,"choices":[{"text":"a"}]}`)), at(10, ended)},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, finish: "length"},
		{what: "S16f text about an error", steps: []step{at(10, completion("error")), at(20, completion(`{"error":"no"}`)), at(20, ended)},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{-1, -1}, finish: "length"},
		{what: "S17 comments and ids between events",
			steps:      []step{at(1, ":\n\n"), at(2, ": keep-alive\n\n"), at(40, "id: 1\nretry: 5\n"+completion("a")), at(50, ": ping\n\n"), at(60, "id: 2\n"+completion("b")), at(60, ended)},
			firstEvent: 40, tokens: []int{40, 60}, counts: []int{-1, -1}, finish: "length"},
		{what: "S18 data: without a space", steps: []step{at(10, strings.ReplaceAll(completion("a")+completion("b")+ended, "data: ", "data:"))},
			firstEvent: 10, tokens: []int{10, 10}, counts: []int{-1, -1}, finish: "length"},
		{what: "line ends of CR LF", steps: []step{at(10, strings.ReplaceAll(completion("a"), "\n", "\r\n")), at(20, strings.ReplaceAll(completion("b")+ended, "\n", "\r\n"))},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{-1, -1}, finish: "length"},
		{what: "line ends of CR", steps: []step{at(10, strings.ReplaceAll(completion("a"), "\n", "\r")), at(20, strings.ReplaceAll(completion("b")+ended, "\n", "\r"))},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{-1, -1}, finish: "length"},
		{what: "a byte-order mark", steps: []step{at(10, "\xef\xbb\xbf"+completion("a")), at(20, ended)},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, finish: "length"},
		{what: "S20 long lines", steps: []step{at(10, completion(strings.Repeat("x", 70_000))), at(20, completion(strings.Repeat("y", 2<<20))), at(30, ended)},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{-1, -1}, finish: "length"},
		{what: "S21 an event cut inside a character", steps: []step{at(10, "data: {\"choices\":[{\"text\":\"\xe4\xbd"), at(15, "\xa0\"}]}\n\n"), at(15, ended)},
			firstEvent: 15, tokens: []int{15}, counts: []int{-1}, finish: "length"},
		{what: "S25 fewer tokens than asked", steps: []step{at(10, running("a", 1)), at(20, running("b", 2)), at(20, data(`{"choices":[{"text":"","finish_reason":"stop"}]}`)+usage(2)+data("[DONE]"))},
			firstEvent: 10, tokens: []int{10, 20}, counts: []int{1, 1}, output: known(2), finish: "stop"},
		{what: "garbage after [DONE]", steps: []step{at(10, completion("a")), at(20, ended+"data: {{{\n\n"+completion("b")+"\x00garbage")},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, finish: "length"},
		{what: "no blank line after [DONE]", steps: []step{at(10, completion("a")), at(20, strings.TrimSuffix(ended, "\n\n"))},
			firstEvent: 10, tokens: []int{10}, counts: []int{-1}, finish: "length"},
		{what: "an event of no known shape", steps: []step{at(10, data(`{"progress":0.5}`)), at(20, completion("a")+ended)},
			firstEvent: 10, tokens: []int{20}, counts: []int{-1}, finish: "length",
			warnings: []string{"1 events had neither choices nor usage nor error"}},
		{what: "M08 fifteen spaces", steps: []step{at(10, data(`{"choices":[{"text":"               "}],"usage":{"completion_tokens":15}}`)+ended)},
			firstEvent: 10, tokens: []int{10}, counts: []int{15}, output: known(15), finish: "length"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			inMemory(t, script{steps: tt.steps}, Config{Model: "m", Chat: tt.chat}, func(t *testing.T, e *Engine) {
				got := generate(t, e)
				require.NoError(t, got.err)
				var times []int
				for _, at := range got.tokenTimes() {
					times = append(times, int(at.Milliseconds()))
				}
				assert.Equal(t, tt.tokens, times, "token events")
				assert.Equal(t, tt.firstEvent, int(got.reply.FirstEvent.Milliseconds()), "first event")
				assert.Equal(t, tt.counts, got.tokenCounts(), "tokens an event")
				assert.Equal(t, tt.output, got.reply.OutputTokens, "output tokens")
				assert.Equal(t, tt.finish, got.reply.Finish)
				assert.Equal(t, tt.warnings, got.reply.Warnings)
				assert.Equal(t, 200, got.reply.Status)
				assert.Equal(t, tt.steps[len(tt.steps)-1].at, got.reply.Closed, "closed")
				assert.Zero(t, got.reply.Sent, "sent at once")
				assert.True(t, got.reply.NewConnection)
			})
		})
	}
}

func TestContentIsTextOfTheAnswer(t *testing.T) {
	steps := []step{
		{at: 1e6, send: chat(`{"role":"assistant","content":""}`)},
		{at: 2e6, send: chat(`{"reasoning":"hm"}`)},
		{at: 3e6, send: chat(`{"reasoning":"so","content":"A"}`)},
		{at: 4e6, send: chat(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`)},
		{at: 5e6, send: ended},
	}
	inMemory(t, script{steps: steps}, Config{Chat: true}, func(t *testing.T, e *Engine) {
		got := generate(t, e)
		require.NoError(t, got.err)
		want := []engines.Chunk{
			{At: 1e6}, {At: 2e6, Token: true}, {At: 3e6, Token: true, Content: true}, {At: 4e6, Token: true}, {At: 5e6},
		}
		assert.Equal(t, want, got.chunks)
	})
}

func TestCountsOfTheRequestAreTheServers(t *testing.T) {
	known := engines.Known
	for _, tt := range []struct {
		what                   string
		event                  string
		prompt, output, cached engines.Count
	}{
		{"usage", `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}}`, known(5), known(1), known(4)},
		{"usage without details", `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":null}}`, known(5), known(1), engines.Count{}},
		{"nothing cached", `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}}}`, known(5), known(1), known(0)},
		{"timings", `{"choices":[],"timings":{"cache_n":2,"prompt_n":3,"predicted_n":1}}`, known(5), known(1), known(2)},
		{"usage before timings", `{"choices":[],"usage":{"prompt_tokens":6,"completion_tokens":1},"timings":{"cache_n":2,"prompt_n":3,"predicted_n":9}}`, known(6), known(1), known(2)},
		{"prompt ids", `{"prompt_token_ids":[1,2,3],"choices":[]}`, known(3), engines.Count{}, engines.Count{}},
		{"nothing", `{"choices":[],"usage":null}`, engines.Count{}, engines.Count{}, engines.Count{}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			inMemory(t, script{steps: []step{{send: completion("a") + data(tt.event) + ended}}}, Config{}, func(t *testing.T, e *Engine) {
				got := generate(t, e)
				require.NoError(t, got.err)
				assert.Equal(t, tt.prompt, got.reply.PromptTokens, "prompt")
				assert.Equal(t, tt.output, got.reply.OutputTokens, "output")
				assert.Equal(t, tt.cached, got.reply.CachedTokens, "cached")
				assert.Equal(t, "m", got.reply.Model)
			})
		})
	}
}

func TestARequestWithoutAClockHasNoTimes(t *testing.T) {
	inMemory(t, script{steps: []step{{at: 1e6, send: completion("a") + ended}}}, Config{}, func(t *testing.T, e *Engine) {
		var chunks []engines.Chunk
		reply, err := e.Generate(t.Context(), &engines.Request{Text: "x", MaxTokens: 1}, func(c engines.Chunk) { chunks = append(chunks, c) })
		require.NoError(t, err)
		assert.Equal(t, []engines.Chunk{{Token: true, Content: true}, {}}, chunks)
		assert.Equal(t, engines.Reply{Finish: "length", Model: "m", Status: 200, NewConnection: true}, reply)
	})
}
