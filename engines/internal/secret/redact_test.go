package secret

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, name := range []string{
		"api-key", "API_KEY", "apiKey", "APIKey", "apikey", "HF_TOKEN", "HFToken", "access_token", "accessToken", "s3_secret_access_key",
		"secret_key", "secretAccessKey", "client-secret", "PGPASSWORD", "password", "passwd", "credentials", "lmcache.api-key", "token", "key",
	} {
		if !Name(name) {
			t.Errorf("%q holds a secret", name)
		}
	}
	for _, name := range []string{
		"", "-", "MAX_TOKENS", "TOKENIZER", "TOKENIZERS_PARALLELISM", "ssl-keyfile", "eos_token", "stopToken", "time_per_token", "cache_key", "monkey", "keys",
	} {
		if Name(name) {
			t.Errorf("%q holds none", name)
		}
	}
}

func TestTextWithoutSecrets(t *testing.T) {
	for _, tt := range []struct{ what, in, want string }{
		{"JSON", `{"s3_secret_access_key":"abcd","access_token":"efgh", "secret_key" : "ij"}`, `{"s3_secret_access_key":"[removed]","access_token":"[removed]", "secret_key" : "[removed]"}`},
		{"JSON of two words", `{"password": "two words", "a": 1}`, `{"password": "[removed]", "a": 1}`},
		{"JSON with a quote inside", `{"password": "a\"b", "a": 1}`, `{"password": "[removed]", "a": 1}`},
		{"JSON with a backslash at the end", `{"password": "a\\", "a": "b"}`, `{"password": "[removed]", "a": "b"}`},
		{"JSON in JSON", `"{\"password\": \"two words\", \"a\": \"b\"}"`, `"{\"password\": \"[removed]\", \"a\": \"b\"}"`},
		{"JSON in JSON with a quote inside", `"{\"password\": \"a\\\"b\", \"a\": \"b\"}"`, `"{\"password\": \"[removed]\", \"a\": \"b\"}"`},
		{"JSON with a number", `{"api_key":12345678,"a":1}`, `{"api_key":[removed],"a":1}`},
		{"an object is looked into", `{"credentials": {"user": "x", "password": "y"}}`, `{"credentials": {"user": "x", "password": "[removed]"}}`},
		{"Python's list", `api_key: ['one', "two"], port: 1`, `api_key: ['[removed]', "[removed]"], port: 1`},
		{"Python's tuple", `{'api_key': ('one', ), 'a': 'b'}`, `{'api_key': ('[removed]', ), 'a': 'b'}`},
		{"a list of words", `api_key=[one, two] port=1`, `api_key=[[removed], [removed]] port=1`},
		{"an empty list", `api_key: [], port: 8000`, `api_key: [], port: 8000`},
		{"Python's bytes", `{b'x-api-key': b'one two'}`, `{b'x-api-key': b'[removed]'}`},
		{"Python's arguments", `Namespace(api_key=None, hf_token='x', port=8000, admin_api_key=abc)`, `Namespace(api_key=None, hf_token='[removed]', port=8000, admin_api_key=[removed])`},
		{"an environment", "PGPASSWORD=a,b AWS_SECRET_ACCESS_KEY=x/y+z= HOME=/root", "PGPASSWORD=[removed] AWS_SECRET_ACCESS_KEY=[removed] HOME=/root"},
		{"a password of signs", "password=a;b{c&d<e; PASSWD=x}", "password=[removed]; PASSWD=[removed]}"},
		{"a quote without its end", "password: \"two words\nnext line", "password: \"[removed]\nnext line"},
		{"removed before", "HF_TOKEN=[removed] api_key: ['[removed]'] ?api_key=[removed]&n=1", "HF_TOKEN=[removed] api_key: ['[removed]'] ?api_key=[removed]&n=1"},
		{"what is none", `{"eos_token": "<s>", "token": 50256, "api_key": null, "max_tokens": 5}`, `{"eos_token": "<s>", "token": 50256, "api_key": null, "max_tokens": 5}`},
		{"a sentence", "unexpected token: end of file; missing key: model.layers.0", "unexpected token: end of file; missing key: model.layers.0"},
		{"a name at the end", "password=", "password="},
		{"a URL with an @ in its password", "http://ann:p@ss-word@proxy:3128/a@b", "http://[removed]@proxy:3128/a@b"},
		{"URLs, one with a user", "http://a:1,http://ann:hush@b:2", "http://a:1,http://[removed]@b:2"},
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
		if !Name(name) || named.FindString(name+"=") != name+"=" || strings.ContainsAny(value, "\"'\\\n") || harmless(name, value) ||
			strings.TrimSpace(value) == "" {
			t.Skip()
		}
		for _, around := range [][2]string{{`"` + name + `": "`, `"` + after}, {name + "='", "'" + after}} {
			if strings.Contains(around[0]+Removed+around[1], value) {
				continue
			}
			in := around[0] + value + around[1]
			if got := Redact(in); strings.Contains(got, value) {
				t.Errorf("%q came through: %q gives %q", value, in, got)
			}
		}
	})
}
