package secret

import (
	"strings"
	"testing"
)

func TestCommandWithoutSecrets(t *testing.T) {
	for _, tt := range []struct{ what, in, want string }{
		{"a flag", "serve --api-key sk-0123456789 --port 8000", "serve --api-key [redacted] --port 8000"},
		{"one dash", "serve -token abc -port 1", "serve -token [redacted] -port 1"},
		{"no dash", "login password hunter2 api_key abc", "login password [redacted] api_key [redacted]"},
		{"an environment", "HF_TOKEN=hf_abc A=b vllm serve", "HF_TOKEN=[redacted] A=b vllm serve"},
		{"a colon", "api-key: abc, credentials_file: /c", "api-key: [redacted], credentials_file: [redacted]"},
		{"numbers", "--api-key 1234 HF_TOKEN=12 --token 5", "--api-key [redacted] HF_TOKEN=[redacted] --token [redacted]"},
		{"tokens that are counted", "--max-num-batched-tokens 8192 token=50256 --stop-token 2", "--max-num-batched-tokens 8192 token=50256 --stop-token 2"},
		{"a bearer", `--api-key bearer abc -H "Authorization: Bearer def"`, `--api-key bearer [redacted] -H "Authorization: Bearer [redacted]"`},
		{"quoted by a shell", `--password 'it'\''s mine' --secret "a \" b" x`, `--password [redacted] --secret "[redacted]" x`},
		{"escaped blanks", `--password it\ is\ mine x`, `--password [redacted] x`},
		{"two pieces", `--password 'one'"two"three --port 1`, `--password [redacted] --port 1`},
		{"signs", "PASSWORD=ab\"cd KEY=a)b]c}d,e x", "PASSWORD=[redacted] KEY=[redacted] x"},
		{"a quote without its end", "--password it's --port 1", "--password [redacted] --port 1"},
		{"over two lines", "--api-key \\\n  abc --port 1", "--api-key \\\n  [redacted] --port 1"},
		{"no value", "--api-key --port 8000", "--api-key --port 8000"},
		{"what is none", "--api-key None token=none, secret=false", "--api-key None token=none, secret=false"},
		{"JSON", `--kv '{"secret_key":"abc","access_token":"two words","port":1}' x`, `--kv '{"secret_key":"[redacted]","access_token":"[redacted]","port":1}' x`},
		{"removed before", `--api-key [redacted] --token '[redacted]' {"key": "[redacted]", "a": 1} token=[redacted]`, `--api-key [redacted] --token '[redacted]' {"key": "[redacted]", "a": 1} token=[redacted]`},
		{"a URL", "--proxy http://ann:hush@proxy:3128/?key=x&n=1", "--proxy http://[redacted]@proxy:3128/?key=[redacted]&n=1"},
		{"key and token as words", "the key is out, the token too: x", "the key is out, the token too: x"},
		{"hardware", "2 × NVIDIA H200", "2 × NVIDIA H200"},
	} {
		got := Command(tt.in)
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.what, got, tt.want)
		}
		if again := Command(got); again != got {
			t.Errorf("%s: a second time gives\n     %s\nfrom %s", tt.what, again, got)
		}
	}
}

// Whatever a shell's word is, it does not come through behind a name that holds a
// secret.
func FuzzNoSecretOfACommandComesThrough(f *testing.F) {
	f.Add("--api-key", "sk-0123456789", "--port 8000")
	f.Add("HF_TOKEN", `a"b'c)d`, "x")
	f.Add("password", "12,3]", "")
	f.Fuzz(func(t *testing.T, name, value, after string) {
		bare := strings.TrimLeft(name, "-")
		if !Name(bare) || setting.FindString(name+"=") != name+"=" || strings.ContainsAny(value, " \t\r\n\v\f\\") || strings.HasPrefix(value, "-") {
			t.Skip()
		}
		switch text := strings.Trim(value, `"'()[]{},;`); {
		case none(text), vocabulary(bare) && count(bare, text), strings.Contains(Mark, text):
			t.Skip()
		}
		for _, parted := range []string{"=", " "} {
			if parted == " " && vocabulary(bare) && name == bare || strings.Contains(name+parted+Mark+" "+after, value) {
				continue
			}
			in := name + parted + value + " " + after
			if got := Command(in); strings.Contains(got, value) {
				t.Errorf("%q came through: %q gives %q", value, in, got)
			}
		}
	})
}
