package lock

import (
	"strings"
	"testing"
)

func TestURLsOfOneServerAreOne(t *testing.T) {
	tests := []struct{ raw, want string }{
		{"http://gpu-7:8000", "http://gpu-7:8000"},
		{"HTTP://GPU-7:8000/", "http://gpu-7:8000"},
		{"http://user:sesame@gpu-7:8000/?key=sesame#sesame", "http://gpu-7:8000"},
		{"http://gpu-7:8000/v1/", "http://gpu-7:8000"},
		{"http://gpu-7", "http://gpu-7:80"},
		{"https://gate.example/team/a/", "https://gate.example:443/team/a"},
		{"https://gate.example/team/b", "https://gate.example:443/team/b"},
		{"http://localhost:8000", "http://127.0.0.1:8000"},
		{"http://[::1]:8000", "http://127.0.0.1:8000"},
		{"http://[FE80::1]:8000", "http://[fe80::1]:8000"},
	}
	for _, test := range tests {
		if got := URL(test.raw); got != test.want {
			t.Errorf("URL(%q) = %q, want %q", test.raw, got, test.want)
		}
	}
	for _, raw := range []string{"", "sesame", "http://sesame:se%zz@x"} {
		if got := URL(raw); strings.Contains(got, "sesame") || !strings.HasPrefix(got, "url ") {
			t.Errorf("URL(%q) = %q", raw, got)
		}
	}
}

// Different resources have different files, whatever they are called.
func FuzzFileNames(f *testing.F) {
	f.Add("gpu GPU-1", "gpu-GPU-1")
	f.Add("http://a:1/b", "http://a:1-b")
	f.Add("", "..")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := fileName(a), fileName(b)
		if a != b && x == y {
			t.Errorf("%q and %q are both %q", a, b, x)
		}
		if strings.ContainsAny(x, `/\:`) || strings.HasPrefix(x, "..") || len(x) > 120 {
			t.Errorf("%q is no name for a file: %q", a, x)
		}
	})
}
