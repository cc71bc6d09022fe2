package openai

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/openloop-go/openloop/engines"
)

func TestDecodeTakesWhatAnEventCarries(t *testing.T) {
	known := engines.Known
	for _, tt := range []struct {
		what string
		data string
		want event
	}{
		{"completion text", `{"model":"m","choices":[{"index":0,"text":" a","finish_reason":null}]}`,
			event{model: []byte(`"m"`), choices: 1, payload: true, content: true}},
		{"empty text", `{"choices":[{"text":""}]}`, event{choices: 1}},
		{"chat content", `{"choices":[{"delta":{"content":"a"}}]}`, event{choices: 1, payload: true, content: true}},
		{"role with null content", `{"choices":[{"delta":{"role":"assistant","content":null}}]}`, event{choices: 1, role: true}},
		{"role with empty content", `{"choices":[{"delta":{"role":"assistant","content":""}}]}`, event{choices: 1, role: true}},
		{"role without content", `{"choices":[{"delta":{"role":"assistant"}}]}`, event{choices: 1, role: true}},
		{"reasoning_content", `{"choices":[{"delta":{"reasoning_content":"h","content":null}}]}`, event{choices: 1, payload: true}},
		{"reasoning", `{"choices":[{"delta":{"reasoning":"h"}}]}`, event{choices: 1, payload: true}},
		{"reasoning and content", `{"choices":[{"delta":{"reasoning":"h","content":"a"}}]}`,
			event{choices: 1, payload: true, content: true}},
		{"content in parts", `{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`,
			event{choices: 1, payload: true, content: true}},
		{"tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}`,
			event{choices: 1, payload: true}},
		{"no tool calls", `{"choices":[{"delta":{"tool_calls":[ ]}}]}`, event{choices: 1}},
		{"function call", `{"choices":[{"delta":{"function_call":{"name":"f"}}}]}`, event{choices: 1, payload: true}},
		{"refusal", `{"choices":[{"delta":{"refusal":"no"}}]}`, event{choices: 1, payload: true, content: true}},
		{"token ids without text", `{"choices":[{"text":"","token_ids":[1,2,3]}]}`,
			event{choices: 1, payload: true, ids: known(3)}},
		{"no token ids", `{"choices":[{"text":"a","token_ids":[]}]}`,
			event{choices: 1, payload: true, content: true, ids: known(0)}},
		{"null token ids", `{"choices":[{"text":"a","token_ids":null}]}`, event{choices: 1, payload: true, content: true}},
		{"prompt ids in the choice", `{"choices":[{"prompt_token_ids":[5,6]}]}`, event{choices: 1, promptIDs: known(2)}},
		{"prompt ids at the top", `{"prompt_token_ids":[5,6]}`, event{promptIDs: known(2)}},
		{"finish reason", `{"choices":[{"text":"","finish_reason":"length"}]}`, event{choices: 1, finish: []byte(`"length"`)}},
		{"usage", `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`,
			event{hasUsage: true, prompt: known(7), completion: known(3)}},
		{"usage with null choices", `{"choices":null,"usage":{"completion_tokens":3}}`,
			event{hasUsage: true, completion: known(3)}},
		{"usage without choices", `{"usage":{"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}`,
			event{hasUsage: true, completion: known(3), cached: known(2)}},
		{"cached nothing", `{"usage":{"prompt_tokens_details":{"cached_tokens":0}}}`, event{hasUsage: true, cached: known(0)}},
		{"cached unknown", `{"usage":{"prompt_tokens_details":null}}`, event{hasUsage: true}},
		{"null usage", `{"usage":null}`, event{}},
		{"counts that are none", `{"usage":{"prompt_tokens":-1,"completion_tokens":1.5}}`, event{hasUsage: true}},
		{"a whole number with a point", `{"usage":{"completion_tokens":3.0}}`, event{hasUsage: true, completion: known(3)}},
		{"counts that are text, and too large", `{"usage":{"prompt_tokens":"7","completion_tokens":1e400,"prompt_tokens_details":{"cached_tokens":9223372036854775808}}}`, event{hasUsage: true}},
		{"the largest counts", `{"usage":{"prompt_tokens":2147483647,"completion_tokens":2147483640}}`, event{hasUsage: true, prompt: known(1<<31 - 1), completion: known(1<<31 - 8)}},
		{"counts that are nothing", `{"usage":{"prompt_tokens":null,"completion_tokens":true,"prompt_tokens_details":[1]}}`, event{hasUsage: true}},
		{"text of a pair of surrogates, of half a pair, and of bytes that are no text", "{\"choices\":[{\"text\":\"\\ud83d\\ude00\"},{\"text\":\"\\ud83d\"},{\"text\":\"\xff\"}]}", event{choices: 3, payload: true, content: true}},
		{"llama.cpp's timings", `{"choices":[],"timings":{"cache_n":1,"prompt_n":6,"prompt_ms":1.25,"predicted_n":3}}`,
			event{hasTimings: true, cacheN: known(1), promptN: known(6), predictedN: known(3)}},
		{"error object", `{"error":{"message":"died"}}`, event{fault: []byte(`{"message":"died"}`)}},
		{"error text", `{"error":"died"}`, event{fault: []byte(`"died"`)}},
		{"null error", `{"error":null,"choices":[]}`, event{fault: []byte(`null`)}},
		{"fields of other types", `{"choices":{"a":1},"usage":[],"timings":"x","error":false}`, event{fault: []byte(`false`)}},
		{"choices of other types", `{"choices":[null,7,{"delta":"x"}]}`, event{choices: 1}},
		{"escaped name", `{"\u0063hoices":[{"text":"a"}]}`, event{choices: 1, payload: true, content: true}},
		{"a name twice", `{"choices":[{"text":"a"}],"choices":[]}`, event{}},
		{"deep nesting", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,"choices":[{"text":"a"}]}`,
			event{choices: 1, payload: true, content: true}},
		{"null", `null`, event{}},
	} {
		var fast, slow event
		require.NoError(t, decode([]byte(tt.data), &fast), tt.what)
		assert.Equal(t, tt.want, fast, tt.what)
		require.NoError(t, decodeSlow([]byte(tt.data), &slow), tt.what)
		assert.Equal(t, fast, slow, tt.what+", by encoding/json")
	}
}

func TestDecodeRefusesWhatIsNoObject(t *testing.T) {
	for what, data := range map[string]string{
		"a number":           `7`,
		"an array":           `[{"choices":[]}]`,
		"cut off":            `{"choices":[{"text":"a"`,
		"two objects":        `{} {}`,
		"a comma too many":   `{"choices":[],}`,
		"a bare word":        `{"choices":[],"a":nil}`,
		"a control byte":     "{\"a\":\"\x01\"}",
		"a bad escape":       `{"a":"\x"}`,
		"a leading zero":     `{"a":01}`,
		"a bare point":       `{"a":1.}`,
		"unescaped line end": "{\"a\":\"\n\"}",
	} {
		var e event
		assert.Error(t, decode([]byte(data), &e), what)
	}
}

// The scanner and encoding/json give the same event, or both refuse.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" the","logprobs":null,"finish_reason":null,"stop_reason":null,"token_ids":[279]}],"usage":{"prompt_tokens":7,"total_tokens":9,"completion_tokens":2}}`,
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[]},"finish_reason":null}]}`,
		`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}},"timings":{"cache_n":0,"prompt_n":7,"predicted_n":3}}`,
		`{"error":{"message":"\ud83d\ude00 died","code":500}}`, `{"object":"error","message":"no"}`,
		` { "choices" : [ { "text" : "é" , "token_ids" : [ 1 , 2 ] } ] } `, `{"a":[1e5,-0.5E-3,true,false,null,{}]}`,
		`{"choices":[{"text":"a","text":""}],"model":{"a":1}}`, "{\"model\":\"\xff\"}", `{"usage":{"completion_tokens":1e2}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var fast, slow event
		errFast, errSlow := decode(data, &fast), decodeSlow(data, &slow)
		if (errFast == nil) != (errSlow == nil) {
			t.Fatalf("scanner: %v, encoding/json: %v", errFast, errSlow)
		}
		if errFast == nil && !reflect.DeepEqual(fast, slow) {
			t.Fatalf("scanner: %+v\nencoding/json: %+v", fast, slow)
		}
	})
}

func TestDecodeOfAnUsualEventAllocatesNothing(t *testing.T) {
	data := []byte(usualEvent)
	var e event
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		e = event{}
		if decode(data, &e) != nil || !e.payload {
			t.Fatal("not decoded")
		}
	}))
}

// usualEvent is the shape of vLLM's completion events.
const usualEvent = `{"id":"cmpl-9f3c1a7be20d4c55","object":"text_completion","created":1700000000,"model":"meta-llama/Meta-Llama-3-8B-Instruct","choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":{"prompt_tokens":2048,"total_tokens":2050,"completion_tokens":2}}`

func BenchmarkDecode(b *testing.B) {
	data := []byte(usualEvent)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var e event
		if decode(data, &e) != nil {
			b.Fatal("not decoded")
		}
	}
}

func BenchmarkDecodeByEncodingJSON(b *testing.B) {
	data := []byte(usualEvent)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var e event
		if decodeSlow(data, &e) != nil {
			b.Fatal("not decoded")
		}
	}
}
