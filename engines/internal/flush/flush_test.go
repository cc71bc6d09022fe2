package flush

import (
	"testing"

	"github.com/openloop-go/openloop/engines"
)

func TestWhatServersAnswer(t *testing.T) {
	const (
		yes, no = `{"success":true}`, `{"success":false}`
		sglang  = "Cache flushed.\nPlease check backend logs"
	)
	read := map[string]func(int, []byte) engines.Flush{"vLLM": VLLM, "SGLang": SGLang, "any": Any}
	for _, tt := range []struct {
		by     string
		status int
		body   string
		want   engines.FlushOutcome
	}{
		{"vLLM", 200, yes, engines.Flushed},
		{"vLLM", 200, no, engines.FlushRefused},
		{"vLLM", 200, "", engines.FlushUnverified},
		{"vLLM", 200, `{"success":"true"}`, engines.FlushUnverified},
		{"vLLM", 200, `{"success":null}`, engines.FlushUnverified},
		{"vLLM", 200, sglang, engines.FlushUnverified},
		{"vLLM", 404, "", engines.FlushUnsupported},
		{"vLLM", 500, yes, engines.FlushRefused},
		{"SGLang", 200, sglang, engines.Flushed},
		{"SGLang", 400, sglang, engines.FlushRefused},
		{"SGLang", 405, "", engines.FlushUnsupported},
		{"SGLang", 503, "", engines.FlushRefused},
		{"any", 200, yes, engines.Flushed},
		{"any", 202, yes, engines.Flushed},
		{"any", 200, no, engines.FlushRefused},
		{"any", 200, sglang, engines.Flushed},
		{"any", 204, "", engines.FlushUnverified},
		{"any", 200, "<html>", engines.FlushUnverified},
		{"any", 302, "", engines.FlushUnsupported},
		{"any", 400, sglang, engines.FlushRefused},
		{"any", 401, "", engines.FlushUnsupported},
		{"any", 403, yes, engines.FlushUnsupported},
		{"any", 404, "", engines.FlushUnsupported},
		{"any", 409, "", engines.FlushRefused},
		{"any", 500, "", engines.FlushRefused},
		{"any", 501, "", engines.FlushUnsupported},
	} {
		got := read[tt.by](tt.status, []byte(tt.body))
		if got.Outcome != tt.want {
			t.Errorf("%s, %d %q: %s, want %s", tt.by, tt.status, tt.body, got.Outcome, tt.want)
		}
		absent := tt.by == "any" && (tt.status == 404 || tt.status == 501)
		if remedied := got.Remedy != ""; remedied == (absent || got.Outcome == engines.Flushed) {
			t.Errorf("%s, %d %q: remedy %q", tt.by, tt.status, tt.body, got.Remedy)
		}
	}
}
