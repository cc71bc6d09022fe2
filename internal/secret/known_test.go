package secret

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestValuesThatWereGiven(t *testing.T) {
	for _, tt := range []struct {
		what     string
		secrets  []string
		in, want string
	}{
		{"none", nil, "a text", "a text"},
		{"as it is", []string{"sesame-open"}, "key sesame-open.", "key [redacted]."},
		{"a number, and what stands for no key", []string{"vllm", "8000", "EMPTY", ""}, "vllm on port 8000 EMPTY", "vllm on port 8000 EMPTY"},
		{"long ones that stand for no key", []string{"sglang", "not-needed", "sk-no-key-required", "OpenAI"}, "sglang: not-needed, sk-no-key-required of openai and OpenAI", "sglang: not-needed, sk-no-key-required of openai and OpenAI"},
		{"a long number", []string{"123456", "12345"}, "123456 of 12345", "[redacted] of 12345"},
		{"shorter than a word", []string{"abc"}, "abc", "abc"},
		{"short", []string{"sesam"}, "sesam, key=sesam \"sesam\" (sesam). ann:sesam@host", "[redacted], key=[redacted] \"[redacted]\" ([redacted]). ann:[redacted]@host"},
		{"short, in another word", []string{"sesam"}, "sesame open-sesam sesam_1 sésam 2sesam sesamé", "sesame open-sesam sesam_1 sésam 2sesam sesamé"},
		{"short, in capitals", []string{"sesam"}, "Sesam SESAM", "Sesam SESAM"},
		{"short, behind what is escaped", []string{"s3am"}, `\ns3am \u0026s3am\t \x00s3am %20s3am%20`, `\n[redacted] \u0026[redacted]\t \x00[redacted] %20[redacted]%20`},
		{"short, with what is in no word", []string{"p@ss", "!abc", "abc!"}, "xp@ss p@ss p%40ss x!abc abc!x", "xp@ss [redacted] [redacted] x[redacted] [redacted]x"},
		{"short, twice in a row", []string{"a.b."}, "a.b.a.b.", "[redacted][redacted]"},
		{"as long as a key", []string{"sesame"}, "opensesame", "open[redacted]"},
		{"one begins with the other", []string{"sesame", "sesame-open"}, "sesame-open sesame", "[redacted] [redacted]"},
		{"two overlap", []string{"abcdef", "defghi"}, "abcdefghi", "[redacted]"},
		{"two in a row", []string{"abcdef", "ghijkl"}, "abcdefghijkl", "[redacted][redacted]"},
		{"one overlaps itself", []string{"abaaba"}, "abaabaaba", "[redacted]"},
		{"as JSON, Go and URLs write it", []string{`a"b<c&d@é`}, `a\"b<c&d@é a\"b\u003cc\u0026d@é a%22b%3Cc%26d%40%C3%A9 a%22b%3Cc&d@%C3%A9`, "[redacted] [redacted] [redacted] [redacted]"},
	} {
		if got := Values(tt.secrets...).Redact(tt.in); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.what, got, tt.want)
		}
	}
}

func TestWhatAClientIsGiven(t *testing.T) {
	u, err := url.Parse("http://ann:pass%2Fword@engine")
	if err != nil {
		t.Fatal(err)
	}
	k := Given("sk-secret", map[string][]string{"X-Auth": {"Bearer two-secret", "plain"}, "X-Key": {"three-secret", "short"}, "Authorization": {"Bearer hush"}}, u.User)
	const in = "sk-secret Bearer two-secret two-secret three-secret short plain hush pass/word pass%2Fword Basic YW5uOnBhc3Mvd29yZA== ann"
	const want = "[redacted] [redacted] [redacted] [redacted] [redacted] plain [redacted] [redacted] [redacted] Basic [redacted] ann"
	if got := k.Redact(in); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Given("", nil, nil).Redact(in); got != in {
		t.Errorf("nothing was given, and %s is left", got)
	}
}

// A URL with a user alone has a token there; a user beside a password is none.
func TestATokenInAURL(t *testing.T) {
	for _, tt := range []struct{ url, in, want string }{
		{"http://sesame%2Fopen@engine", "sesame/open sesame%2Fopen Basic c2VzYW1lL29wZW46", "[redacted] [redacted] Basic [redacted]"},
		{"http://sesame-open:@engine", "sesame-open Basic c2VzYW1lLW9wZW46", "[redacted] Basic [redacted]"},
		{"http://sesame:hush@engine", "sesame hush", "sesame [redacted]"},
		{"http://user@engine", "the user of it", "the user of it"},
		{"http://engine", "sesame", "sesame"},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := Given("", nil, u.User).Redact(tt.in); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.url, got, tt.want)
		}
	}
}

// No secret that was given comes through, as it is or as it is written, whatever is
// around it and whatever else was given.
func FuzzNoValueComesThrough(f *testing.F) {
	f.Add("before ", " after", "s3cret-value", "other")
	f.Add("abc", "cab", "abcabc", "bcabca")
	f.Add(`"`, `"`, `a"b<c>\d`, "a b")
	f.Fuzz(func(t *testing.T, before, after, secret, other string) {
		if len(secret) < Least || standsIn(secret) {
			t.Skip()
		}
		k := Values(other, secret)
		b, err := json.Marshal(secret)
		if err != nil {
			t.Skip()
		}
		quoted := strconv.Quote(secret)
		for _, s := range []string{secret, string(b[1 : len(b)-1]), quoted[1 : len(quoted)-1], url.QueryEscape(secret), url.PathEscape(secret)} {
			got := k.Redact(before + s + after)
			// What is left may begin or end with part of a mark.
			for part := range strings.SplitSeq(got, Mark) {
				if strings.Contains(part, s) {
					t.Errorf("%q came through: %q", s, got)
				}
			}
		}
	})
}

// A short one comes through in no place where it is a word of its own, and what has
// it not as a word is left as it is.
func FuzzNoShortValueComesThrough(f *testing.F) {
	f.Add("key: ", ".", "s3am")
	f.Add("open-", "e", "sesam")
	f.Add("\\n", "%20", "p@ss")
	f.Fuzz(func(t *testing.T, before, after, secret string) {
		if len(secret) < LeastWord || len(secret) >= Least || standsIn(secret) || number(secret) || strings.Contains(Mark, secret) || strings.ContainsAny(secret, `\%`) {
			t.Skip()
		}
		k := Values(secret)
		for _, text := range []string{before + secret + after, before + " " + secret + "\n" + after} {
			for part := range strings.SplitSeq(k.Redact(text), Mark) {
				if len(wordsOf(part, secret)) > 0 {
					t.Errorf("%q came through: %q", secret, part)
				}
			}
		}
		const other = "the server at 127.0.0.1:8000 said: no such model"
		if got := k.Redact(other); got != other && len(wordsOf(other, secret)) == 0 {
			t.Errorf("%q is no word of it: %q", secret, got)
		}
	})
}
