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
		{"shorter than a key", []string{"vllm", "8000", "sesam", ""}, "vllm on port 8000 sesam", "vllm on port 8000 sesam"},
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
	k := Given("sk-secret", map[string][]string{"X-Auth": {"Bearer two-secret"}, "X-Key": {"three-secret", "short"}}, u.User)
	const in = "sk-secret Bearer two-secret two-secret three-secret short pass/word pass%2Fword Basic YW5uOnBhc3Mvd29yZA== ann"
	const want = "[redacted] [redacted] [redacted] [redacted] short [redacted] [redacted] Basic [redacted] ann"
	if got := k.Redact(in); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Given("", nil, nil).Redact(in); got != in {
		t.Errorf("nothing was given, and %s is left", got)
	}
}

// No secret that was given comes through, as it is or as it is written, whatever is
// around it and whatever else was given.
func FuzzNoValueComesThrough(f *testing.F) {
	f.Add("before ", " after", "s3cret-value", "other")
	f.Add("abc", "cab", "abcabc", "bcabca")
	f.Add(`"`, `"`, `a"b<c>\d`, "a b")
	f.Fuzz(func(t *testing.T, before, after, secret, other string) {
		if len(secret) < Least {
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
