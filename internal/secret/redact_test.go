package secret

import (
	"strings"
	"testing"
)

func TestTextWithoutSecrets(t *testing.T) {
	for _, tt := range []struct{ what, in, want string }{
		{"JSON", `{"s3_secret_access_key":"abcd","access_token":"efgh", "secret_key" : "ij"}`, `{"s3_secret_access_key":"[redacted]","access_token":"[redacted]", "secret_key" : "[redacted]"}`},
		{"JSON of two words", `{"password": "two words", "a": 1}`, `{"password": "[redacted]", "a": 1}`},
		{"JSON with a quote inside", `{"password": "a\"b", "a": 1}`, `{"password": "[redacted]", "a": 1}`},
		{"JSON with a backslash at the end", `{"password": "a\\", "a": "b"}`, `{"password": "[redacted]", "a": "b"}`},
		{"JSON in JSON", `"{\"password\": \"two words\", \"a\": \"b\"}"`, `"{\"password\": \"[redacted]\", \"a\": \"b\"}"`},
		{"JSON in JSON with a quote inside", `"{\"password\": \"a\\\"b\", \"a\": \"b\"}"`, `"{\"password\": \"[redacted]\", \"a\": \"b\"}"`},
		{"JSON with a number", `{"api_key":12345678,"a":1}`, `{"api_key":[redacted],"a":1}`},
		{"an object is looked into", `{"credentials": {"user": "x", "password": "y"}}`, `{"credentials": {"user": "x", "password": "[redacted]"}}`},
		{"Python's list", `api_key: ['one', "two"], port: 1`, `api_key: ['[redacted]', "[redacted]"], port: 1`},
		{"Python's tuple", `{'api_key': ('one', ), 'a': 'b'}`, `{'api_key': ('[redacted]', ), 'a': 'b'}`},
		{"a list of words", `api_key=[one, two] port=1`, `api_key=[[redacted], [redacted]] port=1`},
		{"an empty list", `api_key: [], port: 8000`, `api_key: [], port: 8000`},
		{"Python's bytes", `{b'x-api-key': b'one two'}`, `{b'x-api-key': b'[redacted]'}`},
		{"Python's arguments", `Namespace(api_key=None, hf_token='x', port=8000, admin_api_key=abc)`, `Namespace(api_key=None, hf_token='[redacted]', port=8000, admin_api_key=[redacted])`},
		{"an environment", "PGPASSWORD=a,b AWS_SECRET_ACCESS_KEY=x/y+z= HOME=/root", "PGPASSWORD=[redacted] AWS_SECRET_ACCESS_KEY=[redacted] HOME=/root"},
		{"a password of signs", "password=a;b{c&d<e; PASSWD=x}", "password=[redacted]; PASSWD=[redacted]}"},
		{"a quote without its end", "password: \"two words\nnext line", "password: \"[redacted]\nnext line"},
		{"removed before", "HF_TOKEN=[redacted] api_key: ['[redacted]'] ?api_key=[redacted]&n=1", "HF_TOKEN=[redacted] api_key: ['[redacted]'] ?api_key=[redacted]&n=1"},
		{"short numbers of keys", `{"api_key": 1234, "private_key": 12, "key": 12}`, `{"api_key": [redacted], "private_key": [redacted], "key": 12}`},
		{"flags with brackets", "--api-key [abc]def --api-key {abc} --token (a)b --api-key ['one', 'two'] --password (1 --hf-token [] --kv-token {\"a\": [1]} --token [ab, cd]", "--api-key [redacted] --api-key [redacted] --token [redacted] --api-key ['[redacted]', '[redacted]'] --password [redacted] --hf-token [] --kv-token {\"a\": [1]} --token [redacted] [redacted]]"},
		{"flags in a sentence", "--api-key (or a file) and --api-key [KEY] --api-key (unset)", "--api-key (or a file) and --api-key [KEY] --api-key (unset)"},
		{"what is none", `{"eos_token": "<s>", "token": 50256, "api_key": null, "max_tokens": 5}`, `{"eos_token": "<s>", "token": 50256, "api_key": null, "max_tokens": 5}`},
		{"a sentence", "unexpected token: end of file; missing key: model.layers.0", "unexpected token: end of file; missing key: model.layers.0"},
		{"a name at the end", "password=", "password="},
		{"a header", "Authorization: abcdef and Authorization: Bearer xyz", "Authorization: [redacted] and Authorization: Bearer [redacted]"},
		{"headers with schemes", `{'authorization': 'Basic YW5uOmh1c2g=', "Proxy-Authorization": "Token x y", 'a': 'b'}`,
			`{'authorization': 'Basic [redacted]', "Proxy-Authorization": "Token [redacted]", 'a': 'b'}`},
		{"a header with parts", "authorization: Digest username=\"ann\", response=\"0a1b\"\nhost: h", "authorization: Digest [redacted]\nhost: h"},
		{"headers with other schemes", "Authorization: Key abcdef123\nauthorization: NTLM TlRM==\nAuthorization: SSWS 00ab, Authorization: Splunk a-b x Proxy-Authorization: Api-Key ab",
			"Authorization: Key [redacted]\nauthorization: NTLM [redacted]\nAuthorization: SSWS [redacted], Authorization: Splunk [redacted] x Proxy-Authorization: Api-Key [redacted]"},
		{"headers of other schemes with parts", "Authorization: OAuth realm=\"x\", oauth_signature=\"ab\"\nAuthorization: Signature keyId=\"ann\",signature=\"ab\"\nhost: h",
			"Authorization: OAuth [redacted]\nAuthorization: Signature [redacted]\nhost: h"},
		{"a scheme alone", "Authorization: Bearer", "Authorization: [redacted]"},
		{"a header in JSON in JSON", `"{\"authorization\": \"Bearer ab\", \"a\": 1}"`, `"{\"authorization\": \"Bearer [redacted]\", \"a\": 1}"`},
		{"a flag", "serve m --api-key abc --hf-token 'two words' --password=x --port 1", "serve m --api-key [redacted] --hf-token '[redacted]' --password=[redacted] --port 1"},
		{"a flag in JSON", `{"cmd": "serve --api-key abc", "x": "-token def"}`, `{"cmd": "serve --api-key [redacted]", "x": "-token [redacted]"}`},
		{"flags without a value", "--api-key --port 8000 --hf-token none [--api-key [KEY ...]]", "--api-key --port 8000 --hf-token none [--api-key [KEY ...]]"},
		{"flags that hold none", "--max-num-batched-tokens 8192 --tokenizer t --ssl-keyfile k --stop-token s", "--max-num-batched-tokens 8192 --tokenizer t --ssl-keyfile k --stop-token s"},
		{"names in a sentence", "the password is wrong, and the secret is safe", "the password is wrong, and the secret is safe"},
		{"the rest of what was found", "api_key=[redacted]rest token=some[redacted]more, a=b", "api_key=[redacted] token=[redacted], a=b"},
		{"counts of a log", "#new-token: 4096, #cached-token: 12, token usage: 0.03, max_num_batched_tokens=8192", "#new-token: 4096, #cached-token: 12, token usage: 0.03, max_num_batched_tokens=8192"},
		{"a URL with an @ in its password", "http://ann:p@ss-word@proxy:3128/a@b", "http://[redacted]@proxy:3128/a@b"},
		{"URLs, one with a user", "http://a:1,http://ann:hush@b:2", "http://a:1,http://[redacted]@b:2"},
		{"a URL without a user", "http://host:80/a@b", "http://host:80/a@b"},
	} {
		if got := Redact(tt.in); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.what, got, tt.want)
		}
	}
}

// Whatever a quoted value is, and whatever follows it, it does not come through.
func FuzzNoQuotedValueComesThrough(f *testing.F) {
	f.Add("api_key", "s3cret value", ", 'port': 1}")
	f.Add("password", `back\slash`, "")
	f.Add("access_token", "x,y)z]", "\n")
	f.Fuzz(func(t *testing.T, name, value, after string) {
		if !Name(name) || named.FindString(name+"=") != name+"=" || strings.ContainsAny(value, "\"'\\\n") || (none(value) || count(name, value)) ||
			strings.TrimSpace(value) == "" {
			t.Skip()
		}
		for _, around := range [][2]string{{`"` + name + `": "`, `"` + after}, {name + "='", "'" + after}} {
			if strings.Contains(around[0]+Mark+around[1], value) {
				continue
			}
			in := around[0] + value + around[1]
			if got := Redact(in); strings.Contains(got, value) {
				t.Errorf("%q came through: %q gives %q", value, in, got)
			}
		}
	})
}
