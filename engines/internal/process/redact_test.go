package process

import (
	"strings"
	"testing"

	hidden "github.com/openloop-go/openloop/internal/secret"
)

func TestCommandWithoutSecrets(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"flag and value", []string{"vllm", "serve", "m", "--api-key", "sesame"}, "vllm serve m --api-key [redacted]"},
		{"flag=value", []string{"s", "--api-key=sesame", "--port", "1"}, "s --api-key=[redacted] --port 1"},
		{"several values", []string{"s", "--api-key", "one", "two", "--port", "1"}, "s --api-key [redacted] [redacted] --port 1"},
		{"short values", []string{"s", "--token", "x"}, "s --token [redacted]"},
		{"underscores", []string{"s", "--hf_token", "abcdefgh"}, "s --hf_token [redacted]"},
		{"the value again elsewhere", []string{"s", "--api-key", "sesame", "--header", "x=sesame"}, "s --api-key [redacted] --header x=[redacted]"},
		{"tokens that are no secret", []string{"s", "--max-num-batched-tokens", "2048", "--tokenizer", "t"}, "s --max-num-batched-tokens 2048 --tokenizer t"},
		{"known by its look", []string{"s", "--x", "hf_abcdefghijklmnopqrstuv"}, "s --x [redacted]"},
		{"quoted as a shell needs it", []string{"s", "--hf-overrides", `{"a": 1}`, "it's", ""}, `s --hf-overrides '{"a": 1}' 'it'\''s' ''`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := newRedactor(test.args, nil, nil).command(test.args); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestTextWithoutSecrets(t *testing.T) {
	red := newRedactor(
		[]string{"vllm", "--api-key", "sesame-open", "--admin-api-key=sesame-open-wide"},
		[]string{"HF_TOKEN=fromtheenvironment", "TOKENIZERS_PARALLELISM=parallel", "OPENAI_API_KEY=", "MY_TOKEN=1", "CREDENTIALS_TYPE=file"},
		[]string{"told-so"})
	tests := []struct{ in, want string }{
		{"api_key: ['sesame-open']", "api_key: ['[redacted]']"},
		{"the longer one sesame-open-wide goes whole", "the longer one [redacted] goes whole"},
		{"fromtheenvironment told-so", "[redacted] [redacted]"},
		{"parallel 1 stays", "parallel 1 stays"},
		{"no such file", "no such file"},
		{"Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted]"},
		{"hf_AAAAAAAAAAAAAAAAAAAAAA sk-0123456789abcdef0", "[redacted] [redacted]"},
		{"a bearer of news", "a bearer of news"},
		{"HTTPS_PROXY=http://ann:hush@proxy:3128", "HTTPS_PROXY=http://[redacted]@proxy:3128"},
		{"pulling s3://AKIA0:hush/x@bucket and http://host:80/a@b", "pulling s3://AKIA0:hush/x@bucket and http://host:80/a@b"},
		{`GET "/v1/models?api_key=hush-hush&max_tokens=5 HTTP/1.1"`, `GET "/v1/models?api_key=[redacted]&max_tokens=5 HTTP/1.1"`},
		{"https://b.s3.amazonaws.com/w?X-Amz-Date=1&X-Amz-Signature=0a1b2c", "https://b.s3.amazonaws.com/w?X-Amz-Date=1&X-Amz-Signature=[redacted]"},
		{"{'authorization': 'Basic YW5uOmh1c2g=', 'accept': '*'}", "{'authorization': 'Basic [redacted]', 'accept': '*'}"},
		{`{"api_key": "hush-hush", "stop_token": "the end"}`, `{"api_key": "[redacted]", "stop_token": "the end"}`},
		{`--kv-transfer-config {"s3_secret_access_key":"abc","access_token":"two words"}`, `--kv-transfer-config {"s3_secret_access_key":"[redacted]","access_token":"[redacted]"}`},
		{"http://ann:p@ss-word@proxy", "http://[redacted]@proxy"},
		{"PGPASSWORD=hush-hush api_key=None", "PGPASSWORD=[redacted] api_key=None"},
	}
	for _, test := range tests {
		if got := red.text(test.in); got != test.want {
			t.Errorf("text(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// Whatever surrounds a secret, it does not come through.
func FuzzNoSecretComesThrough(f *testing.F) {
	f.Add("before ", " after", "s3cret-value")
	f.Add("--api-key", "", "aaaaaa")
	f.Add("Bearer ", "\n", "hf_abcdef")
	f.Fuzz(func(t *testing.T, before, after, secret string) {
		if len(secret) < hidden.Least || strings.Contains(hidden.Mark, secret) ||
			strings.Contains(before+hidden.Mark+after, secret) {
			t.Skip()
		}
		red := newRedactor([]string{"server", "--api-key=" + secret}, nil, nil)
		for _, got := range []string{
			red.text(before + secret + after),
			red.command([]string{"server", "--api-key=" + secret, "--other=" + before + secret + after}),
		} {
			if strings.Contains(got, secret) {
				t.Errorf("%q came through in %q", secret, got)
			}
		}
	})
}
