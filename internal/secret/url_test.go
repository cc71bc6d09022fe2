package secret

import "testing"

func TestURLs(t *testing.T) {
	for raw, want := range map[string]string{
		"http://ann:sesame@gate:8443/v1":      "http://gate:8443/v1",
		"http://ann:s@same@gate":              "http://gate",
		"https://gate/start?token=sesame#ame": "https://gate/start?…",
		"/login?next=sesame":                  "/login?…",
		"localhost:8000":                      "localhost:8000",
		"":                                    "",
		"//ann:sesame@gate":                   "//gate",
		"http://gate/a@b":                     "http://gate/a@b",
	} {
		if got, ok := URL(raw); got != want || !ok {
			t.Errorf("%q: got %q, %t", raw, got, ok)
		}
	}
	for _, raw := range []string{"ann:sesame@gate:8443", "http:/ann:sesame@gate", "ann@gate", "http://ann:sesame@gate:po", "\x7f"} {
		if got, ok := URL(raw); got != "" || ok {
			t.Errorf("%q: got %q, %t", raw, got, ok)
		}
	}
}
